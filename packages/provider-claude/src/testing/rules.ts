import type { WireError } from '@cobbler/agent/testing';
import type { Fields } from '../fields.ts';
import { fieldsOf, isFields, listOf, textOf } from '../fields.ts';
import { claudeModel, thinkingTraits } from '../models.ts';
import { searchTool } from '../search.ts';
import { refusal, serviceError } from './errors.ts';
import { isSigned } from './signature.ts';

/**
 * Checks a request for everything that the real service rejects, with its messages. Each rule names where its message
 * was seen: `gh` is a page on GitHub that quotes the response, `quoted` the tests of several public programs, `doc` a
 * page under platform.claude.com/docs that documents the rejection, `sdk` the types of @anthropic-ai/sdk 1.11.0.
 * Messages marked `form` were not seen for this field and follow the general form of the others ("path: Field
 * required", "path: Extra inputs are not permitted", gh amrit110/oli#7).
 */
export function refuse(body: unknown): WireError | undefined {
  const request = fieldsOf(body);
  for (const rule of rules) {
    const refused = rule(request);
    if (refused !== undefined) return typeof refused === 'string' ? refusal(refused) : refused;
  }
  return undefined;
}

type Rule = (request: Fields) => string | WireError | undefined;

const rules: readonly Rule[] = [
  (request) => badSurrogate(JSON.stringify(request)),
  requiredFields,
  knownFields,
  knownModel,
  maxTokens,
  thinkingMode,
  outputFormat,
  toolNames,
  toolChoice,
  cacheMarks,
  systemTexts,
  roles,
  (request) => firstOf(messagesOf(request), messageContent),
  (request) => firstBlock(request, blockFields),
  (request) => firstBlock(request, signature),
  toolUseIds,
  toolResults,
  searchResults,
  toolsForHistory,
  prefill,
];

/** gh anthropics/claude-code#60394 */
function badSurrogate(json: string): string | undefined {
  const at = json.search(/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f]/i);
  if (at === -1) return undefined;
  return `The request body is not valid JSON: no low surrogate in string: line 1 column ${at + 1} (char ${at})`;
}

/** form; sdk MessageCreateParams: these three are not optional. No message at all: quoted */
function requiredFields(request: Fields): string | undefined {
  const missing = ['model', 'max_tokens', 'messages'].find((name) => request[name] === undefined);
  if (missing !== undefined) return `${missing}: Field required`;
  return listOf(request['messages']).length === 0 ? 'messages: at least one message is required' : undefined;
}

const known: ReadonlySet<string> = new Set([
  ...[
    'model',
    'max_tokens',
    'messages',
    'stream',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
  ],
  ...[
    'cache_control',
    'container',
    'diagnostics',
    'inference_geo',
    'metadata',
    'service_tier',
    'speed',
    'stop_sequences',
  ],
]);

/** form; doc api/migration-2026-10-21: temperature, top_p and top_k are rejected for any value */
function knownFields(request: Fields): string | undefined {
  const odd = Object.keys(request).find((name) => !known.has(name));
  return odd === undefined ? undefined : `${odd}: Extra inputs are not permitted`;
}

/** doc api/errors: not_found_error; the message is the name of the field and its value */
function knownModel(request: Fields): WireError | undefined {
  const model = textOf(request['model']);
  return /^claude-[a-z0-9-]+$/.test(model)
    ? undefined
    : serviceError(404, 'not_found_error', `model: ${model}`);
}

/** gh anthropics/claude-code#24451; the lower bound: form, sdk max_tokens: 0 only fills the cache */
function maxTokens(request: Fields): string | undefined {
  const asked = request['max_tokens'];
  if (typeof asked !== 'number' || !Number.isInteger(asked))
    return 'max_tokens: Input should be a valid integer';
  if (asked < 0) return 'max_tokens: Input should be greater than or equal to 0';
  const model = textOf(request['model']);
  const max = claudeModel(model)?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (asked <= max) return undefined;
  return `max_tokens: ${asked} > ${max}, which is the maximum allowed number of output tokens for ${model}`;
}

/** gh AAClause/nvda-OpenAI#126; for older models, and effort: quoted */
function thinkingMode(request: Fields): string | undefined {
  const type = fieldsOf(request['thinking'])['type'];
  const { adaptive } = thinkingTraits(textOf(request['model']));
  if (type === 'enabled' && adaptive) {
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  }
  if (type === 'adaptive' && !adaptive) return 'adaptive thinking is not supported on this model';
  const effort = fieldsOf(request['output_config'])['effort'];
  return effort !== undefined && /^claude-(haiku|sonnet)-4-5/.test(textOf(request['model']))
    ? 'This model does not support the effort parameter.'
    : undefined;
}

/** gh veryfront/veryfront-code#3918 */
function outputFormat(request: Fields): string | undefined {
  const format = fieldsOf(fieldsOf(request['output_config'])['format']);
  return hasOpenObject(format['schema'])
    ? "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    : undefined;
}

function hasOpenObject(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasOpenObject);
  if (!isFields(schema)) return false;
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false) return true;
  return Object.values(schema).some(hasOpenObject);
}

/** gh eclipse-theia/theia#16122, Kilo-Org/kilocode#12238; the pattern: doc agents-and-tools/tool-use/define-tools */
function toolNames(request: Fields): string | undefined {
  const tools = listOf(request['tools']).map(fieldsOf);
  for (const [index, tool] of tools.entries()) {
    if (tool['type'] === searchTool.type && tool['name'] === searchTool.name) continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(textOf(tool['name']))) {
      return `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (fieldsOf(tool['input_schema'])['type'] === undefined)
      return `tools.${index}.custom.input_schema.type: Field required`;
  }
  const names = new Set(tools.map((tool) => tool['name']));
  return names.size < tools.length ? 'tools: Tool names must be unique.' : undefined;
}

/** quoted, with the type of the choice in its path */
function toolChoice(request: Fields): string | undefined {
  const choice = request['tool_choice'];
  if (choice === undefined || listOf(request['tools']).length > 0) return undefined;
  return `tool_choice.${textOf(fieldsOf(choice)['type'])} may only be specified while providing tools`;
}

/** gh tghamm/Anthropic.SDK#50 */
function cacheMarks(request: Fields): string | undefined {
  const found = countMarks(request);
  return found > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${found}.` : undefined;
}

function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countMarks(item), 0);
  if (!isFields(value)) return 0;
  // A schema or the arguments of a call may have a field of that name.
  const marks = Object.entries(value).filter(
    ([name]) => name !== 'input_schema' && name !== 'input' && name !== 'schema',
  );
  return marks.reduce((sum, [name, item]) => sum + (name === 'cache_control' ? 1 : countMarks(item)), 0);
}

/** gh anthropics/claude-code#59812, which also applies to system */
function systemTexts(request: Fields): string | undefined {
  return listOf(request['system']).some((block) => textOf(fieldsOf(block)['text']) === '')
    ? 'system: text content blocks must be non-empty'
    : undefined;
}

/** form; the first message: quoted. Consecutive messages of one role are joined, not rejected: sdk `messages` */
function roles(request: Fields): string | undefined {
  const all = messagesOf(request).map((message) => message['role']);
  const odd = all.findIndex((role) => role !== 'user' && role !== 'assistant');
  if (odd !== -1) return `messages.${odd}.role: Input should be 'user' or 'assistant'`;
  return all[0] === 'user' ? undefined : 'messages: first message must use the "user" role';
}

/** gh anthropics/claude-code#6774, #59812, #23369 and #52057 */
function messageContent(message: Fields, index: number): string | undefined {
  const blocks = blocksOf(message);
  if (blocks.length === 0) {
    return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  }
  for (const [at, block] of blocks.entries()) {
    const text = block['type'] === 'text' ? textOf(block['text']) : 'other';
    if (text === '' && block['cache_control'] !== undefined) {
      return `messages.${index}.content.${at}.text: cache_control cannot be set for empty text blocks`;
    }
    if (text === '') return 'messages: text content blocks must be non-empty';
    if (text.trim() === '') return 'messages: text content blocks must contain non-whitespace text';
  }
  return undefined;
}

/** Rules for one block of a message. */
function blockFields(block: Fields, path: string, role: unknown): string | undefined {
  switch (block['type']) {
    case 'thinking':
      // gh lbjlaq/Antigravity-Manager#744
      return block['cache_control'] === undefined
        ? undefined
        : `${path}.thinking.cache_control: Extra inputs are not permitted`;
    case 'tool_use':
      return toolUseFields(block, path, role);
    case 'tool_result':
      // quoted
      if (role !== 'user')
        return `${messagePath(path)}: \`tool_result\` blocks can only be in \`user\` messages`;
      return firstOf(listOf(block['content']).map(fieldsOf), (inner, at) =>
        mediaFields(inner, `${path}.tool_result.content.${at}`, role),
      );
    default:
      return mediaFields(block, path, role);
  }
}

/** Results contain images and documents like messages do; path: gh earendil-works/pi#824 */
function mediaFields(block: Fields, path: string, role: unknown): string | undefined {
  if (block['type'] === 'image') return imageFields(block, path);
  return block['type'] === 'document' ? documentFields(block, path, role) : undefined;
}

/** gh maximhq/bifrost#5097, anthropics/claude-code#6696; calls in a user message: form, like that of results */
function toolUseFields(block: Fields, path: string, role: unknown): string | undefined {
  if (role !== 'assistant')
    return `${messagePath(path)}: \`tool_use\` blocks can only be in \`assistant\` messages`;
  if (!/^[a-zA-Z0-9_-]+$/.test(textOf(block['id']))) {
    return `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  }
  return isFields(block['input']) ? undefined : `${path}.tool_use.input: Input should be a valid dictionary`;
}

const maxImageBytes = 5 * 1024 * 1024;

const imageTypes: ReadonlySet<unknown> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** quoted; sdk Base64ImageSource; size: gh anthropics/claude-code#2146, #2939, earendil-works/pi#824 */
function imageFields(block: Fields, path: string): string | undefined {
  const source = fieldsOf(block['source']);
  if (source['type'] !== 'base64') return undefined;
  const { length } = textOf(source['data']);
  if (length > maxImageBytes)
    return `${path}.image.source.base64: image exceeds 5 MB maximum: ${length} bytes > ${maxImageBytes} bytes`;
  if (imageTypes.has(source['media_type'])) return undefined;
  return `${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
}

/** form, sdk Base64PDFSource; doc api/migration-2026-10-21: no document in an assistant message */
function documentFields(block: Fields, path: string, role: unknown): string | undefined {
  if (role !== 'user') return `${messagePath(path)}: \`document\` blocks can only be in \`user\` messages`;
  const source = fieldsOf(block['source']);
  if (source['type'] !== 'base64' || source['media_type'] === 'application/pdf') return undefined;
  return `${path}.document.source.base64.media_type: Input should be 'application/pdf'`;
}

/** gh anthropics/claude-code#10627; the mock signs so that it can check, see signature.ts */
function signature(block: Fields, path: string): string | undefined {
  if (block['type'] !== 'thinking') return undefined;
  if (typeof block['signature'] !== 'string') return `${path}.thinking.signature: Field required`;
  const good = isSigned(textOf(block['thinking']), block['signature']);
  return good ? undefined : `${path}: Invalid \`signature\` in \`thinking\` block`;
}

/** gh trycua/cua#524 */
function toolUseIds(request: Fields): string | undefined {
  const seen = new Set<unknown>();
  return firstBlock(request, (block, path) => {
    if (block['type'] !== 'tool_use') return undefined;
    if (seen.has(block['id'])) return `${path}: \`tool_use\` ids must be unique`;
    seen.add(block['id']);
    return undefined;
  });
}

/**
 * Checks that every call has one result, at the beginning of the next message, and that there are no other results.
 * gh anthropics/claude-code#3512, #13460; several results for one call: quoted; text before results invalidates them:
 * doc agents-and-tools/tool-use/handle-tool-calls.
 */
function toolResults(request: Fields): string | undefined {
  const messages = messagesOf(request);
  return firstOf(messages, (message, index) => {
    const open = message['role'] === 'assistant' ? idsOf(blocksOf(message), 'tool_use', 'id') : [];
    const next = blocksOf(fieldsOf(messages[index + 1]));
    const ahead = next.findIndex((block) => block['type'] !== 'tool_result');
    const answered = idsOf(ahead === -1 ? next : next.slice(0, ahead), 'tool_result', 'tool_use_id');
    const missing = open.filter((id) => !answered.includes(id));
    if (missing.length > 0) {
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
    return strayResult(message, index, fieldsOf(messages[index - 1]));
  });
}

function strayResult(message: Fields, index: number, before: Fields): string | undefined {
  const asked = idsOf(blocksOf(before), 'tool_use', 'id');
  const seen = new Set<string>();
  for (const [at, block] of blocksOf(message).entries()) {
    if (block['type'] !== 'tool_result') continue;
    const id = textOf(block['tool_use_id']);
    const path = `messages.${index}.content.${at}`;
    if (!asked.includes(id)) {
      return `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (seen.has(id))
      return `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    seen.add(id);
  }
  return undefined;
}

/** Only the last message may contain a search without its result: doc build-with-claude/handling-stop-reasons; quoted */
function searchResults(request: Fields): string | undefined {
  const messages = messagesOf(request);
  return firstOf(messages, (message, index) => {
    const blocks = blocksOf(message);
    const results = idsOf(blocks, 'web_search_tool_result', 'tool_use_id');
    const calls = idsOf(blocks, 'server_tool_use', 'id');
    const open = index < messages.length - 1 ? calls.find((id) => !results.includes(id)) : undefined;
    return (
      open &&
      `messages.${index}: \`web_search\` tool use with id \`${open}\` was found without a corresponding \`web_search_tool_result\` block`
    );
  });
}

/** gh anthropics/anthropic-sdk-python#494 */
function toolsForHistory(request: Fields): string | undefined {
  if (listOf(request['tools']).length > 0) return undefined;
  return firstBlock(request, (block) =>
    block['type'] === 'tool_use' || block['type'] === 'tool_result'
      ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
      : undefined,
  );
}

/** gh jobrunr/JavaClaw#36; doc api/errors#prefill-not-supported. Blocks of server tools may be continued. */
function prefill(request: Fields): string | undefined {
  const last = messagesOf(request).at(-1);
  if (last?.['role'] !== 'assistant' || !thinkingTraits(textOf(request['model'])).adaptive) return undefined;
  if (/^server_tool_use$|_tool_result$/.test(textOf(blocksOf(last).at(-1)?.['type']))) return undefined;
  return 'This model does not support assistant message prefill. The conversation must end with a user message.';
}

function messagesOf(request: Fields): Fields[] {
  return listOf(request['messages']).map(fieldsOf);
}

/** Returns the blocks of a message. A string is shorthand for one text block. */
function blocksOf(message: Fields): Fields[] {
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
}

function idsOf(blocks: readonly Fields[], type: string, key: string): string[] {
  return blocks.filter((block) => block['type'] === type).map((block) => textOf(block[key]));
}

function firstOf(
  items: readonly Fields[],
  check: (item: Fields, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstBlock(
  request: Fields,
  check: (block: Fields, path: string, role: unknown) => string | undefined,
): string | undefined {
  return firstOf(messagesOf(request), (message, index) =>
    firstOf(blocksOf(message), (block, at) =>
      check(block, `messages.${index}.content.${at}`, message['role']),
    ),
  );
}

function messagePath(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}
