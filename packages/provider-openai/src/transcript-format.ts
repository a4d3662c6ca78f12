import type { AssistantPart, Json } from '@cobbler/agent';
import type { Turn } from '@cobbler/agent/provider';
import type { TranscriptFormat } from '@cobbler/agent/transcripts';
import { checkedFormat, TranscriptBuilder, writeTurns } from '@cobbler/agent/transcripts';
import type { Fields } from './fields.ts';
import { isObject } from './fields.ts';
import { providerName } from './models.ts';
import { readContent } from './transcript-part.ts';

/** One entry of a conversation: a message, or another item. */
export interface TranscriptEntry {
  readonly built: TranscriptBuilder;
  readonly value: Fields;
  readonly place: string;
  /** The following entry. */
  readonly next: unknown;
}

/** The differences between the conversations of the two APIs. */
interface TranscriptRules {
  readonly name: string;
  /** Field of the request body that contains the conversation. */
  readonly field: 'messages' | 'input';
  /** True if the assistant's consecutive entries are one response. */
  readonly joins: boolean;
  /** Returns true for an entry that only this API has. */
  isOwn(value: Fields): boolean;
  read(entry: TranscriptEntry): void;
  turn(turn: Turn): readonly Json[];
}

/** Creates the format of the conversations of one API: a request body, or only its conversation. */
export function transcriptFormat({
  name,
  field,
  joins,
  isOwn,
  read,
  turn,
}: TranscriptRules): TranscriptFormat {
  const entriesOf = (value: unknown): readonly unknown[] | undefined => {
    const entries = isObject(value) ? value[field] : value;
    if (field === 'input' && typeof entries === 'string') return [{ role: 'user', content: entries }];
    return Array.isArray(entries) ? entries : undefined;
  };
  return checkedFormat({
    name,
    match(value) {
      if (field === 'input' && isObject(value) && typeof value[field] === 'string') return 1;
      return entriesOf(value)?.filter((entry) => isObject(entry) && isOwn(entry)).length;
    },
    read(value) {
      const built = new TranscriptBuilder({ joins });
      const entries = entriesOf(value) ?? [];
      const lead = leadOf(entries).length;
      for (const [at, entry] of entries.entries()) {
        const place = `${field}[${at}]`;
        if (at < lead) continue;
        if (isObject(entry)) read({ built, value: entry, place, next: entries[at + 1] });
        else built.problem(place, `is not ${field === 'input' ? 'an item' : 'a message'}`);
      }
      return built.done();
    },
    write(value, messages) {
      const lead = leadOf(entriesOf(value) ?? []) as readonly Json[];
      const written = [...lead, ...writeTurns(messages, providerName, turn)];
      return Array.isArray(value) || !isObject(value) ? written : ({ ...value, [field]: written } as Json);
    },
  });
}

/** Returns the instructions, which come before the conversation and stay unchanged. */
function leadOf(entries: readonly unknown[]): readonly unknown[] {
  const first = entries.findIndex((entry) => !isObject(entry) || !isInstruction(entry));
  return first === -1 ? entries : entries.slice(0, first);
}

function isInstruction({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

/** Reads a message; `answer` returns the parts of one from the assistant. */
export function readMessage({ built, value, place }: TranscriptEntry, answer: () => AssistantPart[]): void {
  const { role, content } = value;
  if (role === 'assistant') return built.assistant(place, answer());
  if (role !== 'user' && !isInstruction(value))
    return built.problem(place, `has the role ${JSON.stringify(role)}`);
  if (role !== 'user') built.loss(place, 'is a system message; it would become a user message');
  built.user(place, readContent(built, content, place));
}
