import { hash } from 'node:crypto';
import type { Event, UserPart } from '@cobbler/agent';
import { currentParts } from '@cobbler/agent/events';

/** A run that a prompt has started. */
export interface KnownRun {
  readonly seq: number;
  /** A hash of the prompt, because the prompt itself may be long. */
  readonly digest: string;
}

/** Notes the run that an event starts, if it starts one. */
export function noteRun(known: Map<string, KnownRun> | undefined, event: Event): void {
  if (event.type !== 'user' || event.steer === true) return;
  known?.set(event.runId, { seq: event.seq, digest: digestOf(event.content) });
}

export function digestOf(content: readonly UserPart[]): string {
  return hash('sha256', JSON.stringify(currentParts(content)), 'base64');
}
