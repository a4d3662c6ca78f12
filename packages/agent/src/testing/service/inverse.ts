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

/** A part of a request as read by a mock wire; a tool result contains all its parts in order. */
export type FoundPart =
  | Exclude<ReadPart, { readonly type: 'result' }>
  | {
      readonly type: 'result';
      readonly id: string;
      readonly parts: readonly FoundPart[];
      /** True if the tool failed. Default: false. */
      readonly isError?: boolean | undefined;
    };

/** A request as read by a mock wire. Null and undefined both mean that the request does not set the field. */
export interface FoundRequest extends Pick<ReadRequest, 'model' | 'tools' | 'toolChoice'> {
  /** One string, or one per instruction. */
  readonly system: string | readonly string[];
  /** Adjacent parts of the same side form one turn. */
  readonly turns: readonly { readonly side: 'user' | 'assistant'; readonly parts: readonly FoundPart[] }[];
  readonly maxTokens?: number | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly output?: ReadRequest['output'] | null;
}

/** An error response in the service's own format. */
export interface FailedRequest {
  /** Serialized as JSON unless it is a string. */
  readonly body: unknown;
  /** HTTP status. Default: busy 529, rate_limit 429, agent 500, auth 401, not_found 404, the others 400. */
  readonly status?: number | undefined;
  /** Headers in addition to the content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The service-specific part of a mock service; `Body` is the type of its request bodies. Methods that write a response
 * return lists of payloads, which may be empty; `at` is the index of the block among `answer.blocks`.
 */
export interface MockWire<Body = unknown>
  extends Pick<ProviderTesting, 'provider' | 'head' | 'request' | 'lacks'> {
  /** The framing of the wire. A custom framing specifies the media type, and how a payload or a string is framed. */
  readonly framing: 'sse' | 'ndjson' | Pick<ProviderTesting, 'contentType' | 'frame'>;
  /** Returns the payloads that start a response. Default: none. */
  begin?(answer: ScriptAnswer): readonly unknown[];
  /** Returns the payloads that start a block. It may be omitted, or sent twice. */
  open(at: number, block: ScriptBlock): readonly unknown[];
  /** Returns the payloads of a chunk of a block: of its text, or of the JSON of a call's arguments. */
  delta(at: number, text: string, block: ScriptBlock): readonly unknown[];
  /** Returns the payloads with the provider metadata of a reasoning block. Default: none, if the service has none. */
  seal?(at: number, seal: string): readonly unknown[];
  /** Returns the payloads that end a block. They may be omitted, or sent twice. Default: none. */
  close?(at: number, block: ScriptBlock): readonly unknown[];
  /** Returns the remaining payloads: usage, stop reason, end. */
  end(answer: ScriptAnswer): readonly unknown[];
  /** Returns payloads that a provider must ignore: pings, and unknown kinds without data. */
  noise(): readonly unknown[];
  /** Returns payloads of unknown kinds with data. Default: an object that no service sends. */
  unknown?(): readonly unknown[];
  /** Returns an error response. The message of `auth` contains the refused key. */
  error(fault: ScriptFault): FailedRequest;
  /** Returns the payloads of a failure in the middle of a response. Default: the body of the error response. */
  fail?(fault: ScriptFault): readonly unknown[];
  /** Parses a request body. Throws with a clear message for one that no provider should send. */
  read(body: Body): FoundRequest;
  /** Returns the real service's error message for a request that it does not accept; undefined if it does. */
  refuse(body: Body, url: string): string | undefined;
}

const framings = {
  sse: { contentType: 'text/event-stream', frame: (payload: unknown) => `data: ${bodyText(payload)}\n\n` },
  ndjson: { contentType: 'application/x-ndjson', frame: (payload: unknown) => `${bodyText(payload)}\n` },
} as const;

const statuses: Readonly<Partial<Record<ScriptFault['kind'], number>>> = {
  busy: 529,
  rate_limit: 429,
  agent: 500,
  auth: 401,
  not_found: 404,
};

/** Returns the service's word for a meaning, such as a stop reason, from the table that its wire uses. */
export function errorText<Word>(table: ReadonlyMap<Word, unknown>, meaning: unknown): Word | undefined {
  for (const [word, means] of table) if (means === meaning) return word;
  return undefined;
}

/** Creates a mock service from its service-specific part. */
export function mockWire<Body = unknown>(own: MockWire<Body>): ProviderTesting {
  const { framing } = own;
  return {
    provider: own.provider,
    ...(typeof framing === 'string' ? framings[framing] : framing),
    ...(own.head && { head: own.head }),
    request: own.request,
    lacks: own.lacks,
    begin: (answer) => own.begin?.(answer) ?? [],
    line: (step, answer) => (step.type === 'end' ? own.end(answer) : payloadsOf(own, step, answer)),
    noise: () => own.noise(),
    unknown: () => own.unknown?.() ?? [{ type: 'hologram', content: 'from the future' }],
    error: (fault, secret) => errorResponseOf(own, fault, secret),
    fail: (fault) => own.fail?.(fault) ?? [own.error(fault).body],
    read: (body) => plain(own.read(body as Body)),
    refuse(body, url = '') {
      const message = own.refuse(body as Body, url);
      return message === undefined ? undefined : errorResponseOf(own, { kind: 'invalid', message }, '');
    },
  };
}

type OwnWords = Pick<MockWire<never>, 'open' | 'delta' | 'seal' | 'close'>;

function payloadsOf(
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

function errorResponseOf(
  { error }: Pick<MockWire<never>, 'error'>,
  fault: ScriptFault,
  secret: string,
): WireError {
  const { kind, message } = fault;
  const reported = kind === 'auth' ? { ...fault, message: `${message}: ${secret}` } : fault;
  const { body, status = statuses[kind] ?? 400, headers } = error(reported);
  const contentType = typeof body === 'string' ? 'text/plain' : 'application/json';
  return { status, headers: { 'content-type': contentType, ...headers }, body: bodyText(body) };
}

function bodyText(payload: unknown): string {
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
  const text = inner.flatMap((innerPart) => (innerPart.type === 'text' ? [innerPart.text] : [])).join('');
  return [{ type: 'result', id, text, isError }, ...inner.filter(({ type }) => type !== 'text')];
}
