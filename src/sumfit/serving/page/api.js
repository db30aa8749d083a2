// Questions to the server: one key, one shape of errors, and patience with a server that is not ready yet.

const GIVE_UP_S = 60; // for an answer; the server itself ends a request earlier, unless told otherwise
const MOST_WAIT_S = 10; // before another try; who is told to wait longer is asked first
const MOST_TRIES = 4;
const COLD_START_S = 600; // the first start on a machine compiles the search, which takes minutes on a busy one

export class ServerProblem extends Error {
  constructor(message, { status = 0, type = "no_answer", retryAfter = null } = {}) {
    super(message);
    Object.assign(this, { status, type, retryAfter });
  }

  get mayPass() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export const isAbort = (error) => error.name === "AbortError";

function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, 1000 * seconds);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function askOnce(path, body, signal) {
  const headers = { "content-type": "application/json" };
  const key = sessionStorage.getItem("sumfit-key");
  if (key) headers.authorization = `Bearer ${key}`;
  const own = new AbortController();
  const stop = () => own.abort();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(stop, 1000 * GIVE_UP_S);
  let response;
  let reply;
  try {
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    response = await fetch(path, { ...init, signal: own.signal });
    reply = await response.json().catch((error) => {
      if (isAbort(error)) throw error;
      return null; // a proxy's own page
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const isLate = isAbort(error);
    throw new ServerProblem(isLate ? `The server has not answered within ${GIVE_UP_S} seconds.`
      : "The server does not answer. Is it still running, and are you online?");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
  if (response.ok && reply !== null) return reply;
  const seconds = Number.parseFloat(response.headers.get("retry-after") ?? "");
  throw new ServerProblem(reply?.error?.message ?? `The server answered with status ${response.status}.`, {
    status: response.status, type: reply?.error?.type ?? "error",
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}

// Asks until there is an answer that another try would not change. `onWait` hears of each wait.
export async function ask(path, body, { signal, onWait } = {}) {
  const start = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await askOnce(path, body, signal);
    } catch (error) {
      if (!(error instanceof ServerProblem)) throw error;
      const { status, type, retryAfter } = error;
      const isWorth = (status === 429 || status === 503) && retryAfter !== null && retryAfter <= MOST_WAIT_S;
      const isLeft = type === "not_ready" ? performance.now() - start < 1000 * COLD_START_S : tries < MOST_TRIES;
      if (!isWorth || !isLeft) throw error;
      onWait?.(error);
      await sleep(Math.max(0.5, retryAfter), signal);
    }
  }
}
