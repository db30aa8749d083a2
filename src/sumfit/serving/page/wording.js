// What a summary's numbers mean, in plain words. Pure functions, no page.

const UNIT_WORDS = {
  words: ["word", "words"],
  chars: ["character", "characters"],
  bytes: ["byte", "bytes"],
  graphemes: ["visible character", "visible characters"],
  cells: ["terminal column", "terminal columns"],
  tokens: ["token", "tokens"],
  tweet: ["post character", "post characters"],
  sms: ["message septet", "message septets"],
};

export function unitName(unit, count = 2) {
  const names = UNIT_WORDS[unit];
  return names ? names[count === 1 ? 0 : 1] : unit;
}

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

export function badgesOf(summary) {
  const badges = [{ text: "fits", good: true }];
  if (summary.origin === "source") badges.push({ text: "your own words", good: true });
  if (summary.origin === "cut") badges.push({ text: "cut from the text", good: false });
  if (summary.chosen_by === "scorer") badges.push({ text: "chosen by the scorer", good: true });
  else if (summary.optimal) badges.push({ text: "proved best", good: true });
  badges.push(
    summary.complete
      ? { text: "ends well", good: true }
      : { text: "ends abruptly", good: false },
  );
  if (summary.language && summary.language !== "en") {
    badges.push({ text: "text is not in English", good: false });
  }
  if (summary.source_truncated) badges.push({ text: "end of the text not read", good: false });
  return badges;
}

// What chose a summary where it was not the score, and which one the score puts first.
function chosenBy(summary, slot) {
  const chooser = summary.chosen_by === "scorer"
    ? "the model's scorer, which reads whole candidates"
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
    return "The text already fits, so it is returned as it is.";
  }
  if (summary.origin === "cut") {
    return "The model found nothing that fits, so this is the start of the text, cut between words.";
  }
  const slot = `${summary.limit} ${unitName(summary.unit, summary.limit)}`;
  const odds = summary.log_prob === null ? "" :
    ` The model gives exactly these words a probability of ${oddsOf(summary.log_prob)}.`;
  if (summary.origin === "model" && summary.chosen_by !== "graph") {
    return `${chosenBy(summary, slot)}${odds}`;
  }
  if (summary.optimal) {
    return `Proved: of all wordings this model could choose within ${slot}, none scores higher.${odds}`;
  }
  if (summary.gap !== null) {
    const times = Math.exp(Math.min(summary.gap, 20)).toFixed(summary.gap > 2 ? 0 : 1);
    return `The search stopped early. Another wording within ${slot} might score higher, ` +
      `but at most ${times} times as high.${odds}`;
  }
  return `A good wording within ${slot}; nothing is proved about the others.${odds}`;
}

export function percent(probability) {
  const value = 100 * probability;
  if (value >= 99.95) return "100 %";
  if (value < 0.1) return "under 0.1 %";
  return `${value.toFixed(value < 10 ? 1 : 0)} %`;
}
