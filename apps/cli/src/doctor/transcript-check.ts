import type { RepairedLog } from '@cobbler/agent/format';
import type { TranscriptFormat, TranscriptIssue } from '@cobbler/agent/transcripts';
import { plural } from '../terminal/format.ts';

/** The result of checking a transcript. */
export interface TranscriptCheck {
  /** Its kind, such as `an event log`. */
  readonly kind: string;
  /** Its size, such as `24 events`. */
  readonly size: string;
  readonly problems: readonly TranscriptIssue[];
  /** Data that the repaired transcript also lacks. */
  readonly losses: readonly TranscriptIssue[];
  /** Returns the repaired transcript as text; the same text if there is nothing to repair. */
  repaired(): string;
}

/** Checks a transcript: events as JSON Lines, or a conversation in a provider's format. Undefined if it is neither. */
export async function checkTranscript(text: string): Promise<TranscriptCheck | undefined> {
  const whole = parseJson(text);
  if (whole !== undefined && !isEvent(whole)) {
    const list = Array.isArray(whole) && whole.some(isEvent);
    return list ? await checkEventList(whole, text) : await checkConversation(whole, text);
  }
  return await checkLines(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for an event: stored events have a position, live ones at least a version or a type that no provider uses. */
function isEvent(value: unknown): boolean {
  return isFields(value) && typeof value['type'] === 'string' && ('seq' in value || 'runId' in value);
}

async function checkLines(text: string): Promise<TranscriptCheck | undefined> {
  const lines = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]));
  const values = lines.map(({ line }) => parseJson(line));
  if (!values.some(isEvent)) return undefined;
  const { repairLog } = await import('@cobbler/agent/format');
  const log = repairLog(values);
  const asRead = new Map<unknown, string>(values.map((value, at) => [value, lines[at]?.line ?? '']));
  return eventCheck(log, text, {
    place: (at) => `line ${lines[at]?.number ?? 0}`,
    isJson: (at) => values[at] !== undefined,
    write: () => `${log.events.map((event) => asRead.get(event) ?? JSON.stringify(event)).join('\n')}\n`,
  });
}

async function checkEventList(values: readonly unknown[], text: string): Promise<TranscriptCheck> {
  const { repairLog } = await import('@cobbler/agent/format');
  const log = repairLog(values);
  return eventCheck(log, text, {
    place: (at) => `event ${at + 1} in the list`,
    isJson: () => true,
    write: () => `${JSON.stringify(log.events, null, 2)}\n`,
  });
}

function eventCheck(
  { events, problems }: RepairedLog,
  text: string,
  how: { place(at: number): string; isJson(at: number): boolean; write(): string },
): TranscriptCheck {
  return {
    kind: 'an event log',
    size: plural(events.length, 'event'),
    problems: problems.map(({ at, what }) => ({
      place: how.place(at),
      what: how.isJson(at) ? what : 'is not JSON',
    })),
    losses: [],
    repaired: () => (problems.length === 0 ? text : how.write()),
  };
}

async function checkConversation(value: unknown, text: string): Promise<TranscriptCheck | undefined> {
  const format = await formatOf(value);
  if (format === undefined) return undefined;
  const { repairTranscript } = await import('./conversations.ts');
  const { problems, losses, messages } = repairTranscript(format.read(value));
  return {
    kind: `a conversation in ${format.name} format`,
    size: plural(messages.length, 'message'),
    problems,
    losses,
    repaired: () =>
      problems.length === 0 ? text : `${JSON.stringify(format.write(value, messages), null, 2)}\n`,
  };
}

/** Returns the format that recognizes the most. Plain text is the same in all; the most common, Chat Completions, wins. */
async function formatOf(value: unknown): Promise<TranscriptFormat | undefined> {
  if (!isConversation(value)) return undefined;
  const { chatTranscripts, claudeTranscripts, responsesTranscripts } = await import('./conversations.ts');
  let best: TranscriptFormat | undefined;
  let bestMatch = -1;
  for (const format of [chatTranscripts, claudeTranscripts, responsesTranscripts]) {
    const match = format.match(value) ?? -1;
    if (match > bestMatch) best = format;
    bestMatch = Math.max(bestMatch, match);
  }
  return best;
}

/** True for a request body or its list of messages; in a list, at least one item must look like a message. */
function isConversation(value: unknown): boolean {
  if (isFields(value)) return Array.isArray(value['messages']) || value['input'] !== undefined;
  return Array.isArray(value) && value.some((item) => isFields(item) && ('role' in item || 'type' in item));
}
