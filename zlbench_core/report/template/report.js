"use strict";
(() => {
  const { specs, plots } = JSON.parse(document.getElementById("plots").textContent);

  // A plot is its kind's specification and its own records; narrow windows leave names less room.
  function specOf(plot, box) {
    const { fields, ...spec } = structuredClone(specs[plot.kind]);
    const values = plot.data.map((row) => Object.fromEntries(fields.map((name, i) => [name, row[i]])));
    spec.config.axisY = { labelLimit: Math.max(90, box.clientWidth * 0.38) };
    return { ...spec, height: plot.height, data: { values }, autosize: { type: "fit-x", contains: "padding" } };
  }

  async function draw(box) {
    if (box.dataset.drawn) return;
    box.dataset.drawn = "yes";
    const target = box.querySelector(".canvas");
    const spec = vegaLite.compile(specOf(plots[box.dataset.plot], target)).spec;
    await new vega.View(vega.parse(spec), { renderer: "svg", container: target, hover: true }).runAsync();
  }

  const seen = new IntersectionObserver(
    (entries) => entries.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
    { rootMargin: "300px" },
  );
  const boxes = [...document.querySelectorAll("[data-plot]")];
  boxes.forEach((box) => seen.observe(box));

  // Paper cannot be clicked: all that is folded away is printed, and its plots as far as they are few.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => (one.open = true));
    boxes.slice(0, 100).forEach(draw);
  });

  // A link into a folded section opens it.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) {
      for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
      target.scrollIntoView();
    }
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
