import { repairMessages } from '../../events/repair-messages.ts';
import type { Capabilities } from '../../interfaces/agent.ts';
import type { Json } from '../../values/json.ts';
import type { AssistantPart, Message, ToolResultMessage, UserPart } from '../../values/message.ts';
import type { Turn, Wire } from '../wire/wire.ts';
import { fileRefusal, leftOut, normalizeHistory } from './normalize-history.ts';

/** Something about one place of a transcript, in words that follow the name of the place. */
export interface TranscriptIssue {
  /** Such as `messages[3]`. */
  readonly place: string;
  readonly what: string;
}

/** A conversation as it was read from the body of a request. */
export interface Transcript {
  readonly messages: readonly Message[];
  /** Where each message stands in what was read. */
  readonly places: readonly string[];
  /** For what the service would refuse it. */
  readonly problems: readonly TranscriptIssue[];
  /** What would be lost if it were written anew. */
  readonly losses: readonly TranscriptIssue[];
}

/** The conversations of one API, as they stand in files: the body of a request, or its list of messages alone. */
export interface TranscriptFormat {
  /** For people, such as `Chat Completions`. */
  readonly name: string;
  /** How much in it only this format has; nothing when it cannot be one. */
  match(value: unknown): number | undefined;
  read(value: unknown): Transcript;
  /** The same value with another conversation. */
  write(value: unknown, messages: readonly Message[]): Json;
}

const anyFile = ['*/*'];

/** Turns a conversation into the items of a request, each call answered and each id usable. */
export function writeTurns(
  messages: readonly Message[],
  provider: string,
  turn: (turn: Turn) => readonly Json[],
): Json[] {
  return normalizeHistory(messages, { provider, files: anyFile }).flatMap((each) => [...turn(each)]);
}

/** A transcript's problems in the order of its places, and the conversation without them. */
export interface RepairedTranscript {
  readonly problems: readonly TranscriptIssue[];
  readonly losses: readonly TranscriptIssue[];
  readonly messages: readonly Message[];
}

/** Checks a transcript and mends it by the rules of the fold. */
export function repairTranscript({ messages, places, problems, losses }: Transcript): RepairedTranscript {
  const mended = repairMessages(messages);
  const found = mended.problems.map(({ at, what }) => ({ place: places[at] ?? '', what }));
  if (mended.messages.length === 0)
    found.push({ place: 'the conversation', what: 'has no message that could be sent' });
  return { problems: [...problems, ...found], losses, messages: mended.messages };
}

/** Puts a transcript together while it is read. */
export class TranscriptBuilder {
  readonly #messages: Message[] = [];
  readonly #places: string[] = [];
  readonly #problems: TranscriptIssue[] = [];
  readonly #losses: TranscriptIssue[] = [];
  readonly #joins: boolean;
  readonly #files: readonly string[];
  readonly #refuses: Wire['refuses'];

  /** `joins`: neighbouring messages of the assistant are one answer. The rest says which files the service accepts: all. */
  constructor({
    joins,
    files = anyFile,
    refuses,
  }: { readonly joins: boolean } & Partial<Pick<Capabilities, 'files'>> & Pick<Wire, 'refuses'>) {
    this.#joins = joins;
    this.#files = files;
    this.#refuses = refuses;
  }

  user(place: string, content: readonly UserPart[]): void {
    this.#add(place, { role: 'user', content: this.#taken(place, content) });
  }

  assistant(place: string, content: readonly AssistantPart[]): void {
    const last = this.#messages.at(-1);
    if (!this.#joins || last?.role !== 'assistant') return this.#add(place, { role: 'assistant', content });
    this.#messages[this.#messages.length - 1] = { ...last, content: [...last.content, ...content] };
  }

  /** A result without content stands for a tool that gave nothing, which every service accepts. */
  result(place: string, { content, ...result }: Omit<ToolResultMessage, 'role'>): void {
    const given = this.#taken(place, content).filter((part) => part.type !== 'text' || part.text !== '');
    this.#add(place, {
      role: 'tool_result',
      ...result,
      content: given.length > 0 ? given : [{ type: 'text', text: '(no output)' }],
    });
  }

  /** What the service would refuse with every request leaves a note in its place. */
  #taken(place: string, content: readonly UserPart[]): UserPart[] {
    return content.map((part) => {
      if (part.type === 'text') return part;
      const refused = fileRefusal(part, { files: this.#files, refuses: this.#refuses });
      if (refused === undefined) return part;
      this.problem(place, `has what the service does not accept: ${refused}`);
      return leftOut(part);
    });
  }

  problem(place: string, what: string): void {
    this.#problems.push({ place, what });
  }

  loss(place: string, what: string): void {
    this.#losses.push({ place, what });
  }

  done(): Transcript {
    return {
      messages: this.#messages,
      places: this.#places,
      problems: this.#problems,
      losses: this.#losses,
    };
  }

  #add(place: string, message: Message): void {
    this.#messages.push(message);
    this.#places.push(place);
  }
}
