/**
 * Reads, checks, repairs and writes conversations in the formats of services.
 *
 * @module
 */

import { repairMessages } from '../../events/repair-messages.ts';
import type { Capabilities } from '../../interfaces/agent.ts';
import { argumentError } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import type { AssistantPart, Message, ToolResultMessage, UserPart } from '../../values/message.ts';
import type { Turn, Wire } from '../wire/wire.ts';
import { fileRefusal, leftOut, normalizeHistory } from './normalize-history.ts';

/** A problem at one location of a transcript, as text that follows the name of the location. */
export interface TranscriptIssue {
  /** Location, such as `messages[3]`. */
  readonly place: string;
  readonly what: string;
}

/** A conversation read from the body of a request. */
export interface Transcript {
  readonly messages: readonly Message[];
  /** Location of each message in the input. */
  readonly places: readonly string[];
  /** Problems for which the service would reject it. */
  readonly problems: readonly TranscriptIssue[];
  /** Data that would be lost if the transcript were written again. */
  readonly losses: readonly TranscriptIssue[];
}

/** The file format of one API's conversations: the body of a request, or only its list of messages. */
export interface TranscriptFormat {
  /** Display name, such as `Chat Completions`. */
  readonly name: string;
  /** Returns how many features specific to this format a value has; undefined if it cannot be in this format. */
  match(value: unknown): number | undefined;
  read(value: unknown): Transcript;
  /** Returns the same value with another conversation. */
  write(value: unknown, messages: readonly Message[]): Json;
}

const anyFile = ['*/*'];

/** Converts a conversation to the items of a request, with a result for each call and valid ids. */
export function writeTurns(
  messages: readonly Message[],
  provider: string,
  turn: (turn: Turn) => readonly Json[],
): Json[] {
  try {
    return normalizeHistory(messages, { provider, files: anyFile }).flatMap((each) => [...turn(each)]);
  } catch (thrown) {
    throw argumentError('writeTurns', thrown);
  }
}

/** The problems of a transcript in order, and the repaired conversation. */
export interface RepairedTranscript {
  readonly problems: readonly TranscriptIssue[];
  readonly losses: readonly TranscriptIssue[];
  readonly messages: readonly Message[];
}

/** Checks a transcript and repairs it by the rules of the fold. */
export function repairTranscript(given: Transcript): RepairedTranscript {
  try {
    const { messages, places, problems, losses } = given;
    const repaired = repairMessages(messages);
    const found = repaired.problems.map(({ at, what }) => ({ place: places[at] ?? '', what }));
    if (repaired.messages.length === 0)
      found.push({ place: 'the conversation', what: 'contains no message that can be sent' });
    return { problems: [...problems, ...found], losses, messages: repaired.messages };
  } catch (thrown) {
    throw argumentError('repairTranscript', thrown);
  }
}

/** Builds a transcript while it is read. */
export class TranscriptBuilder {
  readonly #messages: Message[] = [];
  readonly #places: string[] = [];
  readonly #problems: TranscriptIssue[] = [];
  readonly #losses: TranscriptIssue[] = [];
  readonly #joins: boolean;
  readonly #files: readonly string[];
  readonly #refuses: Wire['refuses'];

  /** `joins` merges consecutive assistant messages. `files` and `refuses` state what the service accepts; default: all. */
  constructor(
    given: { readonly joins: boolean } & Partial<Pick<Capabilities, 'files'>> & Pick<Wire, 'refuses'>,
  ) {
    try {
      const { joins, files = anyFile, refuses } = given;
      this.#joins = joins;
      this.#files = files;
      this.#refuses = refuses;
    } catch (thrown) {
      throw argumentError('new TranscriptBuilder', thrown);
    }
  }

  user(place: string, content: readonly UserPart[]): void {
    try {
      this.#add(place, { role: 'user', content: this.#withoutRefusedFiles(place, content) });
    } catch (thrown) {
      throw argumentError('user', thrown);
    }
  }

  assistant(place: string, content: readonly AssistantPart[]): void {
    try {
      const last = this.#messages.at(-1);
      if (!this.#joins || last?.role !== 'assistant') return this.#add(place, { role: 'assistant', content });
      this.#messages[this.#messages.length - 1] = { ...last, content: [...last.content, ...content] };
    } catch (thrown) {
      throw argumentError('assistant', thrown);
    }
  }

  /** Adds a tool result. An empty result gets a note that the tool returned nothing, because every service accepts that. */
  result(place: string, given: Omit<ToolResultMessage, 'role'>): void {
    try {
      const { content, ...result } = given;
      const kept = this.#withoutRefusedFiles(place, content).filter(
        (part) => part.type !== 'text' || part.text !== '',
      );
      this.#add(place, {
        role: 'tool_result',
        ...result,
        content: kept.length > 0 ? kept : [{ type: 'text', text: '(no output)' }],
      });
    } catch (thrown) {
      throw argumentError('result', thrown);
    }
  }

  /** Replaces a file that the service would always reject with a note. */
  #withoutRefusedFiles(place: string, content: readonly UserPart[]): UserPart[] {
    return content.map((part) => {
      if (part.type === 'text') return part;
      const refused = fileRefusal(part, { files: this.#files, refuses: this.#refuses });
      if (refused === undefined) return part;
      this.problem(place, `contains something that the service does not accept: ${refused}`);
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

/**
 * Returns a format whose functions throw an AgentError for a value that cannot be read, such as a revoked proxy.
 * @throws AgentError `invalid` for a format without one of its functions.
 */
export function checkedFormat(format: TranscriptFormat): TranscriptFormat {
  const checked = <Value>(name: string, work: () => Value): Value => {
    try {
      return work();
    } catch (thrown) {
      throw argumentError(name, thrown);
    }
  };
  return checked('checkedFormat', () => {
    const { name } = format;
    const [match, read, write] = [
      format.match.bind(format),
      format.read.bind(format),
      format.write.bind(format),
    ];
    return {
      name,
      match: (value) => checked('match', () => match(value)),
      read: (value) => checked('read', () => read(value)),
      write: (value, messages) => checked('write', () => write(value, messages)),
    };
  });
}
