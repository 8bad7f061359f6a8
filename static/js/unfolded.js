/* What a person unfolded stays so when htmx puts a newer version in its place: every <details> with an id. */
"use strict";
{
  const unfolded = new Map();

  document.addEventListener("htmx:beforeSwap", (event) => {
    event.detail.target.querySelectorAll("details[id]").forEach((part) => unfolded.set(part.id, part.open));
  });
  document.addEventListener("htmx:afterSettle", () => {
    unfolded.forEach((open, id) => {
      const part = document.getElementById(id);
      if (part && open) part.open = true;
    });
    unfolded.clear();
  });
}
