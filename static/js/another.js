/* A worked choice, or another that is typed: <input type="radio" data-another="amount"> belongs to the field of that name.

   Who types there chooses it, and who chooses a worked one takes back what was typed: the form has one answer. */
"use strict";
document.addEventListener("input", (event) => {
  const form = event.target.form;
  const another = form?.querySelector("[data-another]");
  if (!another) return;
  const typed = form.elements[another.dataset.another];
  if (event.target === typed) another.checked = true;
  else if (event.target.name === another.name && event.target === another) typed.focus();
  else if (event.target.name === another.name) typed.value = "";
});
