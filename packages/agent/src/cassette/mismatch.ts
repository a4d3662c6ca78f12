import { AgentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import { clipped, differenceLines, firstDifference } from './difference.ts';
import type { RecordedRequest } from './outgoing.ts';

/** A replay that is not the recording: it ends, because whatever came next would belong to something else. */
export function miss(message: string): AgentError {
  return new AgentError({ kind: 'agent', code: 'replay_miss', message });
}

/** The run asks for something else than was recorded. */
export function otherThan(recorded: RecordedRequest, name: string, content: JsonObject): AgentError {
  const difference = firstDifference(recorded.content, content);
  const lines = difference === undefined ? [] : differenceLines(difference);
  const place = lines.length === 0 ? '' : `The first difference is ${lines.join('\n')}`;
  const others = differentFields(recorded.content, content).slice(1);
  const more = others.length === 0 ? [] : [`Also different: ${others.join(', ')}.`];
  return miss([`${name} of the replay is not ${recorded.name} of the cassette.`, place, ...more].join('\n'));
}

/** The run asks for more than was recorded. */
export function oneMore(name: string, content: JsonObject): AgentError {
  return miss(`${name} of the replay is one more than the cassette holds. It asks:\n  ${gist(content)}`);
}

function differentFields(recorded: JsonObject, now: JsonObject): string[] {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
  return names.filter((name) => {
    const [before, after] = [recorded[name], now[name]];
    if (before === undefined || after === undefined) return true;
    return firstDifference(before, after) !== undefined;
  });
}

/** The newest of what is asked: the last item of its last list, or all of it. */
function gist(content: JsonObject): string {
  for (const [name, value] of Object.entries(content).toReversed()) {
    const last = Array.isArray(value) ? value.at(-1) : undefined;
    if (last !== undefined) return `${name}: … ${clipped(last, 300)}`;
  }
  return clipped(content, 300);
}
