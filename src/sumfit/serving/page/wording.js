// What a summary's numbers mean, in plain words. Pure functions, no page.

import { unitName } from "./units.js";

export function counter(summary) {
  return `${summary.length} of ${summary.limit} ${unitName(summary.unit, summary.limit)}`;
}

function rounded(value) {
  const digits = value >= 10 ? 2 : 1;
  const scale = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  return Math.round(Math.round(value / scale) * scale).toLocaleString("en");
}

export function oddsOf(logProb) {
  const odds = Math.exp(-logProb);
  if (odds < 1.05) return "nearly certain";
  if (odds < 9.5) return `about 1 in ${odds.toFixed(1).replace(/\.0$/, "")}`;
  if (odds < 1e9) return `about 1 in ${rounded(odds)}`;
  return `about 1 in 10 to the power ${Math.round(-logProb / Math.LN10)}`;
}

export const isProved = (summary) =>
  summary.origin === "model" && summary.chosen_by === "graph" && summary.optimal;

export function badgesOf(summary) {
  const badges = [{ text: "fits", good: true }];
  if (summary.origin === "source") badges.push({ text: "your own words", good: true });
  if (summary.origin === "cut") badges.push({ text: "cut from the text", good: false });
  if (isProved(summary)) badges.push({ text: "proved best", good: true });
  if (summary.origin === "model" && summary.chosen_by !== "graph") {
    const chooser = summary.chosen_by === "scorer" ? "the scorer" : summary.chosen_by;
    badges.push({ text: `chosen by ${chooser} among the candidates`, good: true });
  }
  badges.push(
    summary.complete
      ? { text: "ends well", good: true }
      : { text: "ends abruptly", good: false },
  );
  const added = (summary.added ?? []).length;
  if (added) badges.push({ text: added === 1 ? "one more fact added" : `${added} more facts added`, good: true });
  if (summary.unfinished) badges.push({ text: "search stopped early", good: false });
  if (summary.faithful === false) badges.push({ text: "check it against the text", good: false });
  if (summary.language && summary.language !== "en") {
    badges.push({ text: "text is not in English", good: false });
  }
  const read = summary.source_selected;
  if (read) {
    const [some, all] = [read.n_sentences, read.of_sentences].map((count) => count.toLocaleString("en"));
    badges.push({ text: `read ${some} of ${all} sentences`, good: false });
  } else if (summary.source_truncated) {
    badges.push({ text: "end of the text not read", good: false });
  }
  return badges;
}

const number = (value) => value.toFixed(2).replace("-", "\u2212");

// The number that puts a line where it stands, with its parts; null where none is known.
export function scoreOf(summary, chosenBy = summary.chosen_by) {
  if (summary.origin !== "model") return null;
  if (chosenBy === "scorer") {
    return summary.choice_score === null ? null : { name: "scorer\u2019s number", value: summary.choice_score };
  }
  if (chosenBy !== "graph" || summary.score === null || summary.log_prob === null) return null;
  return { name: "score", value: summary.score, bonus: summary.score - summary.log_prob };
}

// Length, the number that chose, and the probability: what stands beside a line.
export function numbersOf(summary, chosenBy = summary.chosen_by) {
  const parts = [`${summary.length} ${unitName(summary.unit, summary.length)}`];
  const score = scoreOf(summary, chosenBy);
  if ((summary.confidence ?? null) !== null) parts.push(`confidence ${Math.round(100 * summary.confidence)} %`);
  if (score) parts.push(`${score.name} ${number(score.value)}`);
  if (summary.log_prob !== null) {
    const bonus = score?.bonus > 0.005 ? `, and ${number(score.bonus)} for its length` : "";
    parts.push(`probability ${oddsOf(summary.log_prob)}${bonus}`);
  }
  return parts.join("; ");
}

// What the order of the lines goes by.
export function orderOf(summary) {
  if (summary.origin !== "model") return "";
  if (summary.chosen_by === "scorer") {
    return "Highest scorer\u2019s number first. The scorer reads each whole line; its number adds part of the " +
      "probability in the graph and a bonus for every character, and takes away for what the text does not say.";
  }
  if (summary.chosen_by === "graph") {
    return "Highest score first. The score is the logarithm of the probability and, on top, a bonus for length: " +
      "so a longer line can stand before a likelier short one.";
  }
  return `In the order of the reranker ${summary.chosen_by}, whose own numbers are not sent.`;
}

// What chose a summary where it was not the score, and which one the score puts first.
function chosenBy(summary, slot) {
  const chooser = summary.chosen_by === "scorer"
    ? "the model\u2019s scorer, which reads whole candidates"
    : `the reranker ${summary.chosen_by}`;
  const words = `Chosen by ${chooser}, among the best that the search found within ${slot}.`;
  const first = [summary, ...(summary.alternatives ?? [])].find((one) => one.rank === 0);
  if (!first) return `${words} By the score of the search another comes first.`;
  const proof = first.optimal ? ", and it is proved that none scores higher" : "";
  if (first === summary) return `${words} The score of the search puts it first as well${proof}.`;
  return `${words} The score of the search puts another first${proof}: \u201c${first.text}\u201d.`;
}

export function certificateOf(summary) {
  if (summary.origin === "source") {
    return "The text fits already and is returned as it is.";
  }
  if (summary.origin === "cut") {
    return "These are the first words of the text, cut between words: the model has no summary of it that fits.";
  }
  const slot = `${summary.limit} ${unitName(summary.unit, summary.limit)}`;
  const numbers = ` This line: ${numbersOf(summary)}.`;
  if (summary.chosen_by !== "graph") return `${chosenBy(summary, slot)}${numbers}`;
  if (summary.optimal) {
    return `Proved: of all wordings this model could choose within ${slot}, none has a higher score.${numbers}`;
  }
  if (summary.gap !== null) {
    return `The search stopped early. Another wording within ${slot} might have a higher score, ` +
      `by ${number(summary.gap)} at most.${numbers}`;
  }
  return `A good wording within ${slot}; nothing is proved about the others.${numbers}`;
}

// What the rules found that the text does not say; empty where they found nothing.
export function doubtsOf(summary) {
  if (summary.faithful !== false) return "";
  return `Rules found: ${(summary.unsupported ?? []).join("; ")}.`;
}

const NO_SUMMARY = {
  infeasible_budget: "The model has no summary of this text that fits. Allow more.",
  nothing_found: "The search found no summary of this text that fits. Allow more.",
  unsupported_script: "Most of this text is in a writing system that the model does not read.",
  empty_input: "The text holds nothing but white space and the like.",
};

// A problem in the words of this page, and what can be done here.
export function problemOf({ message, type, mayPass = false }) {
  const own = NO_SUMMARY[type];
  return {
    text: own ?? message[0].toUpperCase() + message.slice(1),
    canCut: ["infeasible_budget", "nothing_found", "unsupported_script"].includes(type),
    canRetry: mayPass,
  };
}

export function waitOf({ type, status }) {
  if (type === "not_ready") {
    return "The server is starting. The first start on a machine takes a minute or more; this goes on as soon as it is ready.";
  }
  if (status === 429) return "The server is busy; trying again.";
  return "The server cannot answer just now; trying again.";
}

export const limitRule = (low, high) => `A whole number from ${low} to ${high.toLocaleString("en")}`;

export function percent(probability) {
  const value = 100 * probability;
  if (value >= 99.95) return "100 %";
  if (value < 0.1) return "under 0.1 %";
  return `${value.toFixed(value < 10 ? 1 : 0)} %`;
}
