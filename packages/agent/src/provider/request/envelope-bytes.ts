import type { ModelRequest, OutputShape, RequestConfig } from '../../interfaces/agent.ts';
import { canonicalSchema } from '../../interfaces/standard-schema.ts';
import type { Tool } from '../../interfaces/tool.ts';
import { readTool } from '../../interfaces/tool.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { read } from '../../values/input.ts';
import type { Json } from '../../values/json.ts';
import type { Headers } from '../http/headers.ts';
import { joinHeaders } from '../http/headers.ts';
import type { ToolSpec, Wire } from '../wire/wire.ts';
import type { RequestTiming } from './cache-lifetime.ts';
import type { AgentDefaults, EnvelopeRequest } from './request-defaults.ts';
import { demandOf } from './request-defaults.ts';

/** Maximum number of cached envelopes per list of tools, for example for a closing request or a different system prompt. */
const maxKept = 4;

const encoder = new TextEncoder();

/** The serialized parts before and after the turns. Equal requests get the same object. */
export interface EnvelopeBytes {
  /** The request that it was made from, with its lists as they were. */
  readonly asked: ModelRequest;
  readonly keepMs: number | undefined;
  readonly request: EnvelopeRequest;
  /** Bytes up to the first turn, including the comma before it if needed. */
  readonly head: Uint8Array;
  /** Bytes after the last turn. */
  readonly tail: Uint8Array;
  readonly headers: Headers;
  /** The headers of its last request, which those of the next equal while the endpoint is the same. */
  sent: { readonly endpoint: Headers; readonly headers: Headers } | undefined;
}

/** All requests with the same first tool, in any conversation. */
export interface SharedPrefix {
  /** The most recently made envelopes, newest last. */
  envelopes: readonly EnvelopeBytes[];
  /** Undefined before the first request, and if the service caches nothing. */
  timing: RequestTiming | undefined;
}

const tail = encoder.encode(']}');

const noTools: object = {};
const noConfig: RequestConfig = {};

/**
 * Caches the bytes of envelopes, because tools and instructions seldom change between requests and schemas are large.
 * A request is recognized by what the caller passed, before anything is computed from it. Tools are compared one by one
 * by identity, so that a new list of the same tools is recognized.
 */
export class EnvelopeCache {
  readonly #wire: Wire;
  readonly #agent: AgentDefaults;
  readonly #shared = new WeakMap<object, SharedPrefix>();

  constructor(wire: Wire, agent: AgentDefaults) {
    this.#wire = wire;
    this.#agent = agent;
  }

  /** Returns what requests with these tools share; all requests without tools share one. */
  sharedBy(tools: readonly Tool[]): SharedPrefix {
    const key = tools[0] ?? noTools;
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      shared = { envelopes: [], timing: undefined };
      this.#shared.set(key, shared);
    }
    return shared;
  }

  /**
   * Returns the serialized envelope of a request.
   * @throws AgentError `invalid` for settings, tools and headers that no service would accept.
   */
  of(asked: ModelRequest, keepMs: number | undefined, shared: SharedPrefix): EnvelopeBytes {
    const { envelopes } = shared;
    for (let index = envelopes.length - 1; index >= 0; index -= 1) {
      const known = envelopes[index] as EnvelopeBytes;
      if (known.keepMs === keepMs && isSame(known.asked, asked)) return known;
    }
    const made = this.#make(copied(asked), keepMs);
    shared.envelopes = [...envelopes.slice(-(maxKept - 1)), made];
    return made;
  }

  #make(asked: ModelRequest, keepMs: number | undefined): EnvelopeBytes {
    const demand = demandOf(asked, this.#agent);
    const request = keepMs === undefined ? demand : { ...demand, keepMs };
    const { system, tools, ...rest } = request;
    const envelope = this.#wire.envelope({ ...rest, system: instructions(system), tools: specsOf(tools) });
    const { [envelope.turns]: _, ...body } = envelope.body;
    const fields = JSON.stringify(body).slice(0, -1);
    const lead = (envelope.lead ?? []).map((item: Json) => `${JSON.stringify(item)},`).join('');
    const comma = fields === '{' ? '' : ',';
    const head = encoder.encode(`${fields}${comma}${JSON.stringify(envelope.turns)}:[${lead}`);
    return { asked, keepMs, request, head, tail, headers: joinHeaders(envelope.headers), sent: undefined };
  }
}

/** Copies what the caller may change later. The messages are not part of the envelope. */
function copied({ system, tools, config, output }: ModelRequest): ModelRequest {
  return {
    messages: [],
    tools: [...tools],
    ...defined({
      system: typeof system === 'object' ? [...system] : system,
      config: config && { ...config },
      output,
    }),
  };
}

function isSame(left: ModelRequest, right: ModelRequest): boolean {
  const { config: one = noConfig, tools } = left;
  const { config: other = noConfig } = right;
  if (
    one.toolChoice !== other.toolChoice ||
    one.maxTokens !== other.maxTokens ||
    one.temperature !== other.temperature ||
    one.effort !== other.effort ||
    (left.output !== right.output && !isSameOutput(left.output, right.output)) ||
    (left.system !== right.system && !isSameSystem(left.system, right.system)) ||
    tools.length !== right.tools.length
  )
    return false;
  for (let index = 0; index < tools.length; index += 1) if (tools[index] !== right.tools[index]) return false;
  return true;
}

function isSameOutput(left: OutputShape | undefined, right: OutputShape | undefined): boolean {
  return left?.name === right?.name && left?.schema === right?.schema;
}

function isSameSystem(left: ModelRequest['system'], right: ModelRequest['system']): boolean {
  return typeof left === 'object' && typeof right === 'object' && isSameList(left, right);
}

/** Returns whether two lists have the same items. */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}

/** Returns the system prompts as they are sent. */
export function instructions(system: ModelRequest['system']): readonly string[] {
  const texts = typeof system === 'string' ? [system] : (system ?? []);
  return texts.filter((text) => text.trim() !== '').map((text) => text.toWellFormed());
}

/** Returns the tools as they are sent. @throws AgentError `invalid` for tools that no service would accept. */
export function specsOf(tools: readonly Tool[]): ToolSpec[] {
  const names = new Set<string>();
  return tools.map((given, index) => {
    const tool = read(given, readTool, `request.tools[${index}]`);
    if (names.has(tool.name)) {
      const message = `There are two tools named ${tool.name}. Rename one of them.`;
      throw new AgentError({ kind: 'invalid', code: 'duplicate_tool', message });
    }
    names.add(tool.name);
    return { name: tool.name, description: tool.description, parameters: canonicalSchema(tool.parameters) };
  });
}
