import type { Json, StopReason, Usage } from '@cobbler/agent';
import type { BlockKey, Fault, ResponseSink } from '@cobbler/agent/provider';

/** A block as a wire emitted it. */
export interface RecordedBlock {
  readonly at: BlockKey;
  readonly kind: 'text' | 'reasoning' | 'call' | 'opaque';
  text: string;
  id?: string;
  name?: string;
  seal?: Json;
  closed?: true;
}

/** The output of a wire for one response. */
export interface Recording {
  readonly blocks: RecordedBlock[];
  /** The kinds of data that the wire reported as ignored. */
  readonly ignored: string[];
  usage: Partial<Usage>;
  model?: string;
  noted?: StopReason;
  end?: StopReason | 'as noted';
  fault?: Fault;
  /** True if content or another end arrived after the end, which makes the response invalid. */
  late?: true;
}

/** Sends payloads to a wire's `event` and records its output. */
export function record(
  event: (payload: unknown, out: ResponseSink) => void,
  payloads: readonly unknown[],
): Recording {
  const recording: Recording = { blocks: [], ignored: [], usage: {} };
  const block = (at: BlockKey, kind: RecordedBlock['kind']): RecordedBlock => {
    if (recording.end !== undefined) {
      recording.late = true;
      return { at, kind, text: '' };
    }
    const known = recording.blocks.find((one) => one.at === at);
    if (known !== undefined) return known;
    const added: RecordedBlock = { at, kind, text: '' };
    recording.blocks.push(added);
    return added;
  };
  const out: ResponseSink = {
    begin() {},
    text(at, delta) {
      block(at, 'text').text += delta;
    },
    reasoning(at, delta) {
      block(at, 'reasoning').text += delta;
    },
    seal(at, data) {
      block(at, 'opaque').seal = data;
    },
    call(at, id, name) {
      Object.assign(block(at, 'call'), { id, name });
    },
    input(at, fragment) {
      block(at, 'call').text += fragment;
    },
    delta(at, piece) {
      (recording.blocks.find((one) => one.at === at) ?? block(at, 'text')).text += piece;
    },
    close(at) {
      const known = recording.blocks.find((one) => one.at === at);
      if (known !== undefined) known.closed = true;
    },
    ignore(kind) {
      recording.ignored.push(kind);
    },
    usage(counts) {
      Object.assign(recording.usage, counts);
    },
    model(name) {
      recording.model = name;
    },
    stop(reason) {
      recording.noted = reason;
    },
    end(reason) {
      if (recording.end !== undefined) recording.late = true;
      recording.end ??= reason ?? 'as noted';
    },
    fail(fault) {
      recording.fault = fault;
    },
  };
  for (const payload of payloads) event(payload, out);
  return recording;
}

/** Returns the calls of a recording, in order. */
export function callsIn({ blocks }: Recording): { id: string; name: string; input: string }[] {
  return blocks.flatMap(({ kind, id = '', name = '', text }) =>
    kind === 'call' ? [{ id, name, input: text }] : [],
  );
}

/** Returns all text of one kind in a recording. */
export function textIn({ blocks }: Recording, kind: RecordedBlock['kind']): string {
  return blocks.map((block) => (block.kind === kind ? block.text : '')).join('');
}
