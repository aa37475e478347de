"""The steps of the chain, one module each; the workflow's scripts call them."""
