/* <button data-copy="text" data-copy-done="Copied"> puts the text on the clipboard and says so in the button. */
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.textContent;
  button.textContent = button.dataset.copyDone || "✓";
  setTimeout(() => { button.textContent = label; }, 1500);
});
