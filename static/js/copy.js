/* <button data-copy="text" data-copy-done="Copied" hidden> puts the text on the clipboard and says so in the button,
   which is there for those whose browser can do that. */
"use strict";
{
  const offer = () => document.querySelectorAll("[data-copy][hidden]").forEach((button) => { button.hidden = false; });
  offer();
  document.addEventListener("htmx:afterSettle", offer);
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.textContent;
  button.textContent = button.dataset.copyDone || "✓";
  setTimeout(() => { button.textContent = label; }, 1500);
});
