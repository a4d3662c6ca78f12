import type { ModelRequest, OutputShape } from '../../interfaces/agent.ts';
import { canonicalSchema } from '../../interfaces/standard-schema.ts';
import type { Tool } from '../../interfaces/tool.ts';
import { readTool } from '../../interfaces/tool.ts';
import { AgentError } from '../../values/errors.ts';
import { read } from '../../values/input.ts';
import type { Json } from '../../values/json.ts';
import type { Headers } from '../http/headers.ts';
import { joinHeaders } from '../http/headers.ts';
import type { ToolSpec, Wire, WireRequest } from '../wire/wire.ts';

/**
 * Maximum number of cached envelopes per list of tools, for example for a closing request or a different system prompt.
 */
const maxKept = 4;

const encoder = new TextEncoder();

/** The serialized parts before and after the turns. Equal requests get the same object. */
export interface EnvelopeBytes {
  /** The request that it was made from. */
  readonly request: EnvelopeRequest;
  /** Bytes up to the first turn, including the comma before it if needed. */
  readonly head: Uint8Array;
  /** Bytes after the last turn. */
  readonly tail: Uint8Array;
  readonly headers: Headers;
}

/** One request with defaults filled in, before its tools are converted to the wire's form. */
export interface EnvelopeRequest extends Omit<WireRequest, 'system' | 'tools'> {
  readonly system: ModelRequest['system'];
  readonly tools: readonly Tool[];
}

const tail = encoder.encode(']}');

const noTools: object = {};

/** Returns an object that identifies these tools; all requests without tools share one. */
export function keyOf(tools: readonly Tool[]): object {
  return tools[0] ?? noTools;
}

/**
 * Caches the bytes of envelopes, because tools and instructions seldom change between requests and schemas are large.
 * Tools are compared one by one by identity, so that a new list of the same tools is recognized.
 */
export class EnvelopeCache {
  readonly #wire: Wire;
  readonly #kept = new WeakMap<object, EnvelopeBytes[]>();

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /**
   * Returns the serialized envelope of a request.
   * @throws AgentError `invalid` for tools and headers that no service would accept.
   */
  of(request: EnvelopeRequest): EnvelopeBytes {
    const key = keyOf(request.tools);
    const kept = this.#kept.get(key) ?? [];
    const known = kept.find((entry) => isSame(entry.request, request));
    if (known !== undefined) return known;
    const made = this.#make(frozen(request));
    this.#kept.set(key, [...kept.slice(-(maxKept - 1)), made]);
    return made;
  }

  /** Returns the length of the last envelope for these tools; 0 if there is none. */
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

/** Copies the lists, because the caller may change them later. */
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

/** Returns the system prompts as they are sent. */
export function instructions(system: ModelRequest['system']): readonly string[] {
  const texts = typeof system === 'string' ? [system] : (system ?? []);
  return texts.filter((text) => text.trim() !== '').map((text) => text.toWellFormed());
}

/**
 * Returns the tools as they are sent.
 * @throws AgentError `invalid` for tools that no service would accept.
 */
export function specsOf(tools: readonly Tool[]): ToolSpec[] {
  const names = new Set<string>();
  return tools.map((given, index) => {
    const tool = read(given, readTool, `request.tools[${index}]`);
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
