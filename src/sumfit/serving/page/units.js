// What the server says of its units: what they are called, what the slider offers, where it begins.

let units = {};

export function useUnits(display) {
  units = display;
}

export function unitName(unit, count = 2) {
  const own = units[unit];
  return own ? own[count === 1 ? "singular" : "plural"] : unit;
}

export const sliderOf = (unit) => units[unit]?.slider ?? [1, 300];
export const startOf = (unit) => units[unit]?.start ?? 60;
