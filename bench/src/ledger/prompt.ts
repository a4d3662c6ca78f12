import { createHash } from 'node:crypto';

/** One block of a prompt as the service reads it. */
export interface Block {
  readonly tokens: number;
  /** Identifies everything up to and including this block. */
  readonly prefix: string;
  /** Time that a mark at this block requests for everything before it, in milliseconds. */
  readonly markMs?: number;
  /** True at the end of a message of the user or of a tool, where some services cache prompts automatically. */
  readonly endsUser?: boolean;
}

/** The blocks of a prompt in the order in which the service reads them. */
export interface Prompt {
  readonly blocks: readonly Block[];
  /** The text from which the blocks were counted. */
  readonly text: string;
  /** The key for a cache that keeps prompts automatically. */
  readonly key?: string;
  readonly isOff?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** A predictable tokenizer: four characters are one token. */
const charactersPerToken = 4;

/** Returns the number of tokens for a number of characters. */
export function tokensFor(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** Collects blocks; equal prefixes get equal ids. */
class Reader {
  readonly blocks: Block[] = [];
  #prefix = '';
  #text = '';

  get text(): string {
    return this.#text;
  }

  /** Adds a value that is not counted but must be equal for later blocks to be found again. */
  condition(value: unknown): void {
    this.#prefix = hash(this.#prefix, JSON.stringify(value) ?? '');
  }

  block(value: unknown, rest: Pick<Block, 'markMs' | 'endsUser'> = {}): void {
    const text = JSON.stringify(value);
    this.#prefix = hash(this.#prefix, text);
    this.#text += text;
    this.blocks.push({ tokens: tokensFor(text.length), prefix: this.#prefix, ...rest });
  }
}

function hash(before: string, text: string): string {
  return createHash('sha1').update(before).update('\0').update(text).digest('base64');
}

/**
 * Reads a request of the Messages API: tools, then system, then messages. A changed tool choice or thinking mode
 * changes the prefixes of the messages but not of tools and system.
 */
export function messagesPrompt(body: Fields): Prompt {
  const reader = new Reader();
  reader.condition(body['model']);
  for (const tool of list(body['tools'])) addMarked(reader, tool);
  for (const text of list(body['system'])) addMarked(reader, text);
  reader.condition([body['tool_choice'], body['thinking'], body['output_config']]);
  for (const message of list(body['messages'])) {
    for (const block of list(message['content'])) addMarked(reader, block, message['role']);
  }
  return reader;
}

function addMarked(reader: Reader, { cache_control, ...block }: Fields, role?: unknown): void {
  const value = role === undefined ? block : [role, block];
  if (cache_control === undefined) return reader.block(value);
  const { ttl } = cache_control as { ttl?: unknown };
  reader.block(value, { markMs: ttl === '1h' ? 3_600_000 : 300_000 });
}

/** Reads a request of the Responses API: tools, then instructions, then input items. */
export function responsesPrompt(body: Fields): Prompt {
  const reader = new Reader();
  reader.condition([body['model'], body['text'], body['reasoning']]);
  for (const tool of list(body['tools'])) reader.block(tool);
  if (body['instructions'] !== undefined) reader.block(body['instructions']);
  for (const item of list(body['input'])) {
    const isUser = item['role'] === 'user' || item['type'] === 'function_call_output';
    reader.block(item, isUser ? { endsUser: true } : {});
  }
  return { blocks: reader.blocks, text: reader.text, ...askedOf(body) };
}

/** Reads a request of Chat Completions: tools, then messages. */
export function chatPrompt(body: Fields): Prompt {
  const reader = new Reader();
  reader.condition([body['model'], body['response_format'], body['reasoning_effort']]);
  for (const tool of list(body['tools'])) reader.block(tool);
  for (const message of list(body['messages'])) {
    const isUser = message['role'] === 'user' || message['role'] === 'tool';
    reader.block(message, isUser ? { endsUser: true } : {});
  }
  return { blocks: reader.blocks, text: reader.text, ...askedOf(body) };
}

function askedOf(body: Fields): Pick<Prompt, 'key' | 'isOff'> {
  const key = body['prompt_cache_key'];
  const options = (body['prompt_cache_options'] ?? {}) as Fields;
  return { ...(typeof key === 'string' && { key }), isOff: options['mode'] === 'explicit' };
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value : [];
}
