import { hash } from 'node:crypto';
import type { UserPart } from '@cobbler/agent';
import { currentParts } from '@cobbler/agent/events';

/** A run that a prompt started, to recognize the same prompt. */
export interface KnownRun {
  readonly seq: number;
  /** A hash of the prompt, because the prompt itself may be long. */
  readonly digest: string;
}

export function digestOf(content: readonly UserPart[]): string {
  return hash('sha256', JSON.stringify(currentParts(content)), 'base64');
}
