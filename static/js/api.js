// The page on which the API is tried: Swagger UI, with the description that the page names.
"use strict";

const place = document.getElementById("api");
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
});
