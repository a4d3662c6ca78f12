import type { Environment, GateCall } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { callFacts, placeIn } from './proxy-tools.ts';

/** The conversation of a program whose calls are judged. */
export interface JudgedConversation {
  readonly workingDir: string;
  /** Environment from which the home directory is determined; the keys there are sealed. */
  readonly env: Environment;
  /** Tools of the program that can send data, and whose output is trusted. */
  readonly trusted: readonly string[];
  /** Returns the first tool whose untrusted output the conversation contains. */
  readonly untrusted: () => string | undefined;
  /** Stores that tool. */
  readonly mark: (toolName: string) => void;
}

/** What a gate learns about a call of a program, apart from its name and its arguments. */
export type CallJudgment = Pick<GateCall, 'effect' | 'subject' | 'mustAsk' | 'untrusted'>;

/** Judges the calls of one conversation of a program, as the loop judges those of tools. */
export class CallJudge {
  readonly #conversation: JudgedConversation;
  readonly #place: ReturnType<typeof placeIn>;

  constructor(conversation: JudgedConversation) {
    this.#conversation = conversation;
    this.#place = placeIn(conversation.workingDir, conversation.env);
  }

  /** Marks the conversation if the output of this tool can contain what other people wrote. */
  noteOutput(toolName: string): void {
    if (this.#conversation.untrusted() !== undefined || this.#isTrusted(toolName)) return;
    if (callFacts(toolName, {}, this.#place).untrusted) this.#conversation.mark(toolName);
  }

  /** @throws AgentError `invalid` if the working directory cannot be used. */
  judge(toolName: string, given: Record<string, unknown>): CallJudgment {
    this.#place();
    const facts = callFacts(toolName, given, this.#place);
    const { effect, subject } = facts;
    const untrusted = this.#conversation.untrusted();
    const isAsked = untrusted !== undefined && facts.sends && !this.#isTrusted(toolName);
    const mustAsk = facts.mustAsk() ?? (isAsked ? reasonFor(untrusted) : undefined);
    return { effect, subject, ...defined({ mustAsk, untrusted }) };
  }

  #isTrusted(name: string): boolean {
    return this.#conversation.trusted.includes(name);
  }
}

function reasonFor(source: string): string {
  return `It can send data, and the conversation has read untrusted output from ${source}, which may contain instructions.`;
}
