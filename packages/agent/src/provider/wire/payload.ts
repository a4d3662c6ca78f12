const brace = 123;

/** Stands for a payload that was meant to be JSON and is not: the stream cannot be trusted any more. */
export class MalformedPayload {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON, or {@link MalformedPayload}. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return new MalformedPayload(text);
  }
}

/** JSON; text that does not even begin like JSON, such as an end mark in plain words, is given as it is. */
export function parsePayload(text: string): unknown {
  if (text.charCodeAt(0) !== brace) return parseOther(text);
  // Not by parseJson: this is called for every delta, and before code is compiled a call costs more than its work.
  try {
    return JSON.parse(text);
  } catch {
    return new MalformedPayload(text);
  }
}

function parseOther(text: string): unknown {
  const first = text.trimStart()[0];
  if (first === '{') return parseJson(text);
  if (first === '[') return beginsLikeArray(text) ? parseJson(text) : text;
  const value = parseJson(text);
  return value instanceof MalformedPayload ? text : value;
}

function beginsLikeArray(text: string): boolean {
  return /^\s*\[\s*([[{"\]\-0-9tfn]|$)/.test(text);
}
