// The page on which the API is tried: Swagger UI, with the description that the page names.
"use strict";

const place = document.getElementById("api");
const labels = JSON.parse(document.getElementById("labels").textContent);

/* What stands beside the pointer, or is read aloud. */
const spoken = ["title", "aria-label"];

/* Puts the page's words in the place of the library's, which speaks English alone; code and answers stay. */
function translateLabels() {
  for (const name of spoken) {
    for (const element of place.querySelectorAll(`[${name}]`)) {
      const label = element.getAttribute(name);
      if (Object.hasOwn(labels, label) && labels[label] !== label) {
        element.setAttribute(name, labels[label]);
      }
    }
  }
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const label = text.nodeValue.trim();
    if (Object.hasOwn(labels, label) && labels[label] !== label && !text.parentElement.closest("pre, textarea")) {
      text.nodeValue = text.nodeValue.replace(label, labels[label]);
    }
  }
}

new MutationObserver(translateLabels).observe(place, {
  childList: true,
  subtree: true,
  characterData: true,
  attributes: true,
  attributeFilter: spoken,
});

/* Leads to each group of requests, once they are drawn. */
function fillOutline() {
  const links = [...place.querySelectorAll(".opblock-tag[id]")].map((group) => {
    const link = document.createElement("a");
    link.href = `#${group.id}`;
    link.textContent = group.dataset.tag;
    return link;
  });
  const outline = document.getElementById("outline");
  outline.replaceChildren(...links);
  outline.hidden = false;
}

window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.description,
  // Its links would stand inside buttons, where no keyboard reaches them.
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  presets: [window.SwaggerUIBundle.presets.apis],
  // The page has a heading of its own.
  plugins: [() => ({ wrapComponents: { InfoContainer: () => () => null } })],
  // Nothing of the description is sent to anybody.
  validatorUrl: null,
  onComplete: fillOutline,
});
