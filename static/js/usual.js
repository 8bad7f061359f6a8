/* What a port and a schema usually are, once another kind of connection is chosen: where the former kind's stand. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const kind = document.querySelector("select[data-usual]");
  if (!kind) return;
  const usual = JSON.parse(kind.dataset.usual);
  let former = kind.value;

  kind.addEventListener("change", () => {
    for (const [name, before] of Object.entries(usual[former])) {
      // A field of the connection, or of each table and of the one that is copied for a further table.
      for (const field of document.querySelectorAll(`input[name="${name}"], input[name$="-${name}"]`)) {
        if (field.value !== before) continue;
        field.value = usual[kind.value][name];
        field.setAttribute("value", field.value);
      }
    }
    former = kind.value;
  });
});
