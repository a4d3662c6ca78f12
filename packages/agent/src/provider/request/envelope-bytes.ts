import type { ModelRequest, OutputShape } from '../../interfaces/agent.ts';
import { canonicalSchema } from '../../interfaces/standard-schema.ts';
import type { Tool } from '../../interfaces/tool.ts';
import { checkTool } from '../../interfaces/tool.ts';
import { AgentError } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import type { Headers } from '../http/headers.ts';
import { joinHeaders } from '../http/headers.ts';
import type { ToolSpec, Wire, WireRequest } from '../wire/wire.ts';

/** How many different envelopes for one list of tools are kept: a closing call, another system text. */
const maxKept = 4;

const encoder = new TextEncoder();

/** What stands around the turns, made ready to send. The same object for requests that ask for the same. */
export interface EnvelopeBytes {
  /** What it was made from. */
  readonly request: EnvelopeRequest;
  /** Up to the first turn, the comma before it included where one is needed. */
  readonly head: Uint8Array;
  /** After the last turn. */
  readonly tail: Uint8Array;
  readonly headers: Headers;
}

/** What one request asks for, defaults filled in, its tools not yet in the wire's form. */
export interface EnvelopeRequest extends Omit<WireRequest, 'system' | 'tools'> {
  readonly system: ModelRequest['system'];
  readonly tools: readonly Tool[];
}

const tail = encoder.encode(']}');

const noTools: object = {};

/** An object that stands for these tools; requests without tools have one of their own. */
export function keyOf(tools: readonly Tool[]): object {
  return tools[0] ?? noTools;
}

/**
 * Keeps the bytes of envelopes, because tools and instructions seldom change between requests and schemas
 * are large. Tools are compared by identity, one by one, so that a new list of the same tools is known.
 */
export class EnvelopeCache {
  readonly #wire: Wire;
  readonly #kept = new WeakMap<object, EnvelopeBytes[]>();

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** @throws AgentError `invalid` for tools and headers that no service would accept. */
  of(request: EnvelopeRequest): EnvelopeBytes {
    const key = keyOf(request.tools);
    const kept = this.#kept.get(key) ?? [];
    const known = kept.find((entry) => isSame(entry.request, request));
    if (known !== undefined) return known;
    const made = this.#make(frozen(request));
    this.#kept.set(key, [...kept.slice(-(maxKept - 1)), made]);
    return made;
  }

  /** How long the envelope was that was made last for these tools; 0 when there was none. */
  lengthOf(tools: readonly Tool[]): number {
    return this.#kept.get(keyOf(tools))?.at(-1)?.head.length ?? 0;
  }

  #make(request: EnvelopeRequest): EnvelopeBytes {
    const { system, tools, ...rest } = request;
    const envelope = this.#wire.envelope({ ...rest, system: instructions(system), tools: specsOf(tools) });
    const { [envelope.turns]: _, ...body } = envelope.body;
    const fields = JSON.stringify(body).slice(0, -1);
    const lead = (envelope.lead ?? []).map((item: Json) => `${JSON.stringify(item)},`).join('');
    const comma = fields === '{' ? '' : ',';
    const head = encoder.encode(`${fields}${comma}${JSON.stringify(envelope.turns)}:[${lead}`);
    return { request, head, tail, headers: joinHeaders(envelope.headers) };
  }
}

/** A list that the caller may change later must not change what the bytes were made from. */
function frozen(request: EnvelopeRequest): EnvelopeRequest {
  const { system, tools } = request;
  return { ...request, tools: [...tools], system: typeof system === 'object' ? [...system] : system };
}

function isSame(left: EnvelopeRequest, right: EnvelopeRequest): boolean {
  return (
    left.model === right.model &&
    left.toolChoice === right.toolChoice &&
    left.maxTokens === right.maxTokens &&
    left.temperature === right.temperature &&
    left.effort === right.effort &&
    left.keepMs === right.keepMs &&
    isSameOutput(left.output, right.output) &&
    isSameSystem(left.system, right.system) &&
    left.tools.length === right.tools.length &&
    left.tools.every((tool, index) => tool === right.tools[index])
  );
}

function isSameOutput(left: OutputShape | undefined, right: OutputShape | undefined): boolean {
  return left === right || (left?.name === right?.name && left?.schema === right?.schema);
}

function isSameSystem(left: ModelRequest['system'], right: ModelRequest['system']): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/** The instructions as they are sent. */
export function instructions(system: ModelRequest['system']): readonly string[] {
  const texts = typeof system === 'string' ? [system] : (system ?? []);
  return texts.filter((text) => text.trim() !== '').map((text) => text.toWellFormed());
}

/**
 * The tools as they are sent.
 * @throws AgentError `invalid` for tools that no service would accept.
 */
export function specsOf(tools: readonly Tool[]): ToolSpec[] {
  const names = new Set<string>();
  return tools.map((tool) => {
    checkTool(tool);
    if (names.has(tool.name)) {
      throw new AgentError({
        kind: 'invalid',
        code: 'duplicate_tool',
        message: `There are two tools named ${tool.name}. Rename one of them.`,
      });
    }
    names.add(tool.name);
    return { name: tool.name, description: tool.description, parameters: canonicalSchema(tool.parameters) };
  });
}
