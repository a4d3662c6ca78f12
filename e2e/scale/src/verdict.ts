import type { Event } from '@cobbler/agent';
import { turns } from './scripted-model.ts';
import type { Seen } from './watcher.ts';

/** What became of one session. */
export interface SessionFindings {
  readonly sessionId: string;
  readonly events: readonly Event[];
  /** Places that the tool booked, as often as it did. */
  readonly booked: readonly number[];
  readonly watchers: readonly Seen[];
}

/** What does not hold, in words; nothing when all does. */
export function problems({ sessionId, events, booked, watchers }: SessionFindings): string[] {
  const found: string[] = [];
  const hold = (holds: boolean, what: string) => {
    if (!holds) found.push(`${sessionId}: ${what}`);
  };
  const last = events.at(-1);
  hold(last?.type === 'finished' && last.status === 'complete', `ended as ${statusOf(last)}`);
  hold(
    events.every(({ seq }, index) => seq === index + 1),
    'its places have a gap or a repetition',
  );
  hold(new Set(events.map(({ id }) => id)).size === events.length, 'two events have one id');
  const twice = booked.filter((place, index) => booked.indexOf(place) !== index);
  hold(twice.length === 0, `the tool ran twice for ${twice.join(', ')}`);
  const answers = events.filter(({ type }) => type === 'assistant').length;
  hold(answers === turns + 1, `${answers} answers instead of ${turns + 1}`);
  for (const turn of Array.from({ length: turns }, (_, index) => index)) {
    const isAnswered = booked.includes(turn) || unknownOutcomes(events) > 0;
    hold(isAnswered, `turn ${turn} was answered without its tool`);
  }
  hold(events.filter(({ type }) => type === 'user').length === 1, 'the prompt is not there once');
  hold(events.filter(({ type }) => type === 'finished').length === 1, 'it did not end once');
  for (const { seqs, ids } of watchers) {
    hold(seqs.length === events.length, `a watcher saw ${seqs.length} of ${events.length} events`);
    hold(
      seqs.every((seq, index) => seq === index + 1 && ids[index] === events[index]?.id),
      'a watcher saw something else than the log has',
    );
  }
  return found;
}

/** Calls whose process died in their middle: they are not run again, and nobody knows what they did. */
export function unknownOutcomes(events: readonly Event[]): number {
  return events.filter((event) => event.type === 'tool_result' && event.toolName === 'book' && event.isError)
    .length;
}

function statusOf(event: Event | undefined): string {
  return event?.type === 'finished' ? `${event.status} ${event.error?.message ?? ''}` : String(event?.type);
}
