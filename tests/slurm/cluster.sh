#!/usr/bin/env bash
# A real Slurm of one node on this machine: munged, slurmctld and slurmd in FOLDER, with two made-up GPUs.
#   cluster.sh start FOLDER   afterwards the commands in FOLDER/bin speak to it
#   cluster.sh stop FOLDER
#   cluster.sh packages       only installs what is missing
# FOLDER/jobs.log gets a line per job from Slurm itself: "start|end <job> <gpu> <nanoseconds>".
# A made-up GPU is a link to /dev/null: gres.conf takes character devices only, and Slurm never opens them.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

# Only root installs; elsewhere Slurm has to be there. Exit status 75: this machine cannot have a Slurm.
need_packages() {
  local command missing=
  for command in slurmctld slurmd munged sbatch; do
    command -v "$command" > /dev/null || missing+=" $command"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "not installed:$missing (Debian: slurmctld slurmd slurm-client munge), and only root can install them" >&2
    exit 75
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq -o APT::Update::Error-Mode=any -o Acquire::Retries=1 > /dev/null || not_fetched
  install_packages --simulate
  install_packages --download-only || not_fetched
  # Debian's scripts would start the daemons with no configuration; a runlevel of 1 says no.
  RUNLEVEL=1 install_packages
}

install_packages() {
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" \
    slurmctld slurmd slurm-client munge > /dev/null
}

not_fetched() {
  echo "Debian's packages of Slurm cannot be fetched" >&2
  exit 75
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

write_configuration() {
  local me host
  me=$(id -un)
  host=$(hostname -s)
  mkdir -p "$1/state" "$1/spool" "$1/gpus"
  ln -sf /dev/null "$1/gpus/gpu0"
  ln -sf /dev/null "$1/gpus/gpu1"
  touch "$1/jobs.log"
  printf '#!/bin/sh\necho "%s $SLURM_JOB_ID ${SLURM_JOB_GPUS:-none} $(date +%%s%%N)" >> %s\n' \
    start "$1/jobs.log" > "$1/prolog.sh"
  sed 's/echo "start/echo "end/' "$1/prolog.sh" > "$1/epilog.sh"
  chmod +x "$1/prolog.sh" "$1/epilog.sh"
  cat > "$1/slurm.conf" << END
ClusterName=zlbench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
Prolog=$1/prolog.sh
Epilog=$1/epilog.sh
PrologFlags=Alloc
SlurmdParameters=config_overrides
MinJobAge=3600
SchedulerParameters=sched_interval=2,defer_batch
ReturnToService=2
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=8000 Gres=gpu:2
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
  echo "NodeName=$host Name=gpu File=$1/gpus/gpu[0-1]" > "$1/gres.conf"
  touch "$1/plugstack.conf"
}

# The executor plugin drops SLURM_CONF from the environment of a job, where srun needs it.
write_commands() {
  mkdir -p "$1/bin"
  for command in sbatch srun squeue scancel scontrol sinfo; do
    printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$1/slurm.conf" "$(command -v $command)" > "$1/bin/$command"
  done
  chmod +x "$1"/bin/*
}

start() {
  need_packages
  mkdir -p "$1"
  write_configuration "$1"
  write_commands "$1"
  export SLURM_CONF="$1/slurm.conf"
  dd if=/dev/urandom of="$1/munge.key" bs=128 count=1 status=none
  chmod 400 "$1/munge.key"
  munged --force --key-file="$1/munge.key" --socket="$1/munge.socket" --pid-file="$1/munged.pid" \
    --seed-file="$1/munge.seed" --log-file="$1/munged.log" || not_started "$1"
  slurmctld || not_started "$1"
  slurmd || not_started "$1"
  for _ in $(seq 60); do
    [ "$(sinfo --noheader --format=%T 2> /dev/null)" = idle ] && return
    sleep 1
  done
  sinfo --long >&2
  not_started "$1"
}

not_started() {
  tail -n 20 "$1"/*.log >&2
  echo "Slurm's daemons do not start on this machine, or their node does not become idle" >&2
  exit 75
}

stop() {
  for daemon in slurmd slurmctld munged; do
    [ -f "$1/$daemon.pid" ] && kill "$(cat "$1/$daemon.pid")" 2> /dev/null || true
  done
}

case $1 in
  packages) need_packages ;;
  *) "$1" "$(realpath -m "$2")" ;;
esac
