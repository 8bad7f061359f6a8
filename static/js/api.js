// The page on which the API is tried: Swagger UI, with the description that the page names.
"use strict";

const place = document.getElementById("api");
window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.description,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  presets: [window.SwaggerUIBundle.presets.apis],
  // Nothing of the description is sent to anybody.
  validatorUrl: null,
});
