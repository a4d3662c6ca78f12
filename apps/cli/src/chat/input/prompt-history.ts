import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Maximum number of stored prompts, and maximum length of each. A longer one is kept for this process only. */
const maxKept = 1000;
const maxPromptLength = 10_000;

/** The input of earlier chats, oldest first, in a private file. One that cannot be read or written counts as empty. */
export class PromptHistory {
  readonly #path: string | undefined;
  #prompts: string[];

  /** Without a path, the history is kept for this process only. */
  constructor(path: string | undefined) {
    this.#path = path;
    this.#prompts = path === undefined ? [] : read(path);
  }

  get prompts(): readonly string[] {
    return this.#prompts;
  }

  add(prompt: string): void {
    if (prompt.trim() === '' || prompt === this.#prompts.at(-1)) return;
    this.#prompts.push(prompt);
    if (this.#path === undefined || prompt.length > maxPromptLength) return;
    // Other chats write to the same file: keep their prompts and add ours.
    const kept = [...read(this.#path), prompt].slice(-maxKept);
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(this.#path, kept.map((text) => `${JSON.stringify(text)}\n`).join(''), { mode: 0o600 });
      chmodSync(this.#path, 0o600);
    } catch {
      // The prompt stays in memory until the chat ends.
    }
  }
}

/** Returns the index of the last prompt before `from` that contains the words; -1 if there is none. */
export function findPrompt(prompts: readonly string[], words: string, from: number): number {
  const wanted = words.toLowerCase();
  return prompts.findLastIndex((prompt, index) => index < from && prompt.toLowerCase().includes(wanted));
}

function read(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').flatMap(parseLine);
  } catch {
    return [];
  }
}

function parseLine(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' ? [value] : [];
  } catch {
    return [];
  }
}
