import type {
  ProviderTesting,
  ReadPart,
  ReadRequest,
  ScriptAnswer,
  ScriptBlock,
  ScriptFault,
  Step,
  WireError,
} from './provider-testing.ts';

/** A part of a request as an inverse finds it: a tool's result with all that it brought, in its order. */
export type FoundPart =
  | Exclude<ReadPart, { readonly type: 'result' }>
  | {
      readonly type: 'result';
      readonly id: string;
      readonly parts: readonly FoundPart[];
      /** Default: false. */
      readonly isError?: boolean | undefined;
    };

/** A request as an inverse finds it. Null and undefined both mean that the request does not say. */
export interface FoundRequest extends Pick<ReadRequest, 'model' | 'tools' | 'toolChoice'> {
  /** One text, or the instructions one by one. */
  readonly system: string | readonly string[];
  /** What stands one behind the other on the same side is one turn. */
  readonly turns: readonly { readonly side: 'user' | 'assistant'; readonly parts: readonly FoundPart[] }[];
  readonly maxTokens?: number | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly output?: ReadRequest['output'] | null;
}

/** A failed request in the words of a service. */
export interface FailedRequest {
  /** Written as JSON unless it is a text. */
  readonly body: unknown;
  /** Default: busy 529, rate_limit 429, agent 500, auth 401, not_found 404, the others 400. */
  readonly status?: number | undefined;
  /** Besides the content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What is a service's own in the inverse of its wire, `Body` being what its requests look like. What tells an
 * answer gives lists of payloads, which may be empty; `at` is the index of the block among `answer.blocks`.
 */
export interface MockWire<Body = unknown> extends Pick<ProviderTesting, 'provider' | 'head' | 'lacks'> {
  /** As the wire has it; a framing of its own says the media type, and how a payload or a text stands in it. */
  readonly framing: 'sse' | 'ndjson' | Pick<ProviderTesting, 'contentType' | 'frame'>;
  /** Payloads that open an answer. Default: none. */
  begin?(answer: ScriptAnswer): readonly unknown[];
  /** A block begins. May be left untold, or told twice. */
  open(at: number, block: ScriptBlock): readonly unknown[];
  /** A piece of a block: of its text, or of the JSON of a call's arguments. */
  delta(at: number, text: string, block: ScriptBlock): readonly unknown[];
  /** What a block of reasoning is signed with. Default: nothing, for a service without seals. */
  seal?(at: number, seal: string): readonly unknown[];
  /** A block is whole. May be left untold, or told twice. Default: nothing. */
  close?(at: number, block: ScriptBlock): readonly unknown[];
  /** The rest: usage, why it stops, the end. */
  end(answer: ScriptAnswer): readonly unknown[];
  /** Payloads that a good provider does not mind: pings and kinds from the future. */
  noise(): readonly unknown[];
  /** A failed request. The message of `auth` names the key that was refused. */
  error(fault: ScriptFault): FailedRequest;
  /** A failure in the middle of an answer. Default: one payload, the body of the failed request. */
  fail?(fault: ScriptFault): readonly unknown[];
  /** Reads a request's body back. Throws with a clear message for one that no provider should send. */
  read(body: Body): FoundRequest;
  /** What the real service says to a body that it does not take; nothing when it is fine. */
  refuse(body: Body): string | undefined;
}

const framings = {
  sse: { contentType: 'text/event-stream', frame: (payload: unknown) => `data: ${written(payload)}\n\n` },
  ndjson: { contentType: 'application/x-ndjson', frame: (payload: unknown) => `${written(payload)}\n` },
} as const;

const statuses: Readonly<Partial<Record<ScriptFault['kind'], number>>> = {
  busy: 529,
  rate_limit: 429,
  agent: 500,
  auth: 401,
  not_found: 404,
};

/** The word that a service has for a meaning, by the table in which its wire looks up meanings. */
export function errorText<Word>(table: ReadonlyMap<Word, unknown>, meaning: unknown): Word | undefined {
  for (const [word, means] of table) if (means === meaning) return word;
  return undefined;
}

/** The inverse of a wire, made of what is the service's own. */
export function mockWire<Body = unknown>(own: MockWire<Body>): ProviderTesting {
  const { framing } = own;
  return {
    provider: own.provider,
    ...(typeof framing === 'string' ? framings[framing] : framing),
    ...(own.head && { head: own.head }),
    lacks: own.lacks,
    begin: (answer) => own.begin?.(answer) ?? [],
    line: (step, answer) => (step.type === 'end' ? own.end(answer) : toldBy(own, step, answer)),
    noise: () => own.noise(),
    error: (fault, secret) => failed(own, fault, secret),
    fail: (fault) => own.fail?.(fault) ?? [own.error(fault).body],
    read: (body) => plain(own.read(body as Body)),
    refuse(body) {
      const message = own.refuse(body as Body);
      return message === undefined ? undefined : failed(own, { kind: 'invalid', message }, '');
    },
  };
}

type OwnWords = Pick<MockWire<never>, 'open' | 'delta' | 'seal' | 'close'>;

function toldBy(
  own: OwnWords,
  step: Exclude<Step, { readonly type: 'end' }>,
  { blocks }: ScriptAnswer,
): readonly unknown[] {
  const { type, at } = step;
  const block = blocks[at];
  if (block === undefined) return [];
  if (type === 'open') return own.open(at, block);
  if (type === 'delta') return own.delta(at, step.text, block);
  if (type === 'close') return own.close?.(at, block) ?? [];
  const seal = block.type === 'reasoning' ? block.seal : undefined;
  return (seal !== undefined && own.seal?.(at, seal)) || [];
}

function failed({ error }: Pick<MockWire<never>, 'error'>, fault: ScriptFault, secret: string): WireError {
  const { kind, message } = fault;
  const told = kind === 'auth' ? { ...fault, message: `${message}: ${secret}` } : fault;
  const { body, status = statuses[kind] ?? 400, headers } = error(told);
  const contentType = typeof body === 'string' ? 'text/plain' : 'application/json';
  return { status, headers: { 'content-type': contentType, ...headers }, body: written(body) };
}

function written(payload: unknown): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload);
}

function plain({ system, turns, maxTokens, temperature, output, ...rest }: FoundRequest): ReadRequest {
  const sides: { readonly side: 'user' | 'assistant'; readonly parts: ReadPart[] }[] = [];
  for (const { side, parts } of turns) {
    if (sides.at(-1)?.side !== side) sides.push({ side, parts: [] });
    sides.at(-1)?.parts.push(...parts.flatMap(plainPart));
  }
  return {
    ...rest,
    system: typeof system === 'string' ? system : system.join('\n\n'),
    turns: sides,
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(output && { output }),
  };
}

function plainPart(part: FoundPart): ReadPart[] {
  if (part.type !== 'result') return [part];
  const { id, isError = false } = part;
  const inner = part.parts.flatMap(plainPart);
  const text = inner.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('');
  return [{ type: 'result', id, text, isError }, ...inner.filter(({ type }) => type !== 'text')];
}
