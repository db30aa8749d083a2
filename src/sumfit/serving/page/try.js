// The form of the reference: sends a request to /v1/summarize and shows the reply.
import { ask, ServerProblem } from "./api.js";
import { SAMPLES } from "./samples.js";

const form = document.getElementById("try");
const body = document.getElementById("try-body");
const reply = document.getElementById("try-reply");

function show(content) {
  reply.hidden = false;
  reply.textContent = typeof content === "string" ? content : JSON.stringify(content, null, 2);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  let request;
  try {
    request = JSON.parse(body.value);
  } catch (error) {
    show(`This is not JSON: ${error.message}`);
    return;
  }
  show("Working …");
  try {
    show(await ask("v1/summarize", request, { onWait: (problem) => show(`${problem.message} …`) }));
  } catch (error) {
    if (!(error instanceof ServerProblem)) throw error;
    show(error.status === 401 ? "This server asks for an API key: give it on the page, in this tab." : error.message);
  }
});
body.value = JSON.stringify({ text: SAMPLES.News, max_chars: 60 }, null, 2);
form.hidden = false;
