/* Explained words (.term): the stylesheet shows their meaning under pointer or focus; Escape puts it away. */
"use strict";
{
  const put = (event, away) => {
    for (const term of document.querySelectorAll(".term")) {
      if (away || term === event.target) term.classList.toggle("away", away);
    }
  };
  document.addEventListener("keydown", (event) => event.key === "Escape" && put(event, true));
  for (const left of ["pointerout", "focusout"]) document.addEventListener(left, (event) => put(event, false));
}
