/* Opens confirmation dialogs: <button data-dialog-open="id"> opens <dialog id="id">.

   A button inside with data-dialog-close closes it; so does Escape. Where scripts do not run, the dialog
   stands on the page (portal.css), and neither button is there. */
"use strict";
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog-open]");
  const dialog = opener && document.getElementById(opener.dataset.dialogOpen);
  if (dialog) {
    event.preventDefault();
    dialog.showModal();
  }
  event.target.closest("[data-dialog-close]")?.closest("dialog").close();
});
