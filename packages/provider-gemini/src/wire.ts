import type { FilePart, Json, JsonObject } from '@cobbler/agent';
import type { Turn, Wire, WireRequest } from '@cobbler/agent/provider';
import { fileKind, isObject } from '@cobbler/agent/provider';
import { traitsOf } from './models.ts';
import { ignored, readEvent, readFault } from './response.ts';

/** The wire of `streamGenerateContent`. Source: ai.google.dev/api/generate-content. */
export function geminiWire(baseURL: string, apiKey: string, model: string): Wire {
  const isSigned = traitsOf(model).thinking === 'level';
  return {
    provider: 'gemini',
    framing: 'sse',
    endpoint: {
      url: `${baseURL}/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
      headers: { 'x-goog-api-key': apiKey },
      secrets: [apiKey],
    },
    envelope: (request) => ({ body: bodyOf(request), turns: 'contents' }),
    turn: (turn) => [{ role: turn.side === 'user' ? 'user' : 'model', parts: partsOf(turn, isSigned) }],
    event: readEvent,
    ignored,
    fault: (_status, body) => readFault(body),
  };
}

/** Returns a request without its turns. The model is part of the address. */
function bodyOf({ system, tools, toolChoice, ...request }: WireRequest): JsonObject {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations }] }),
    ...(toolChoice === 'none' && { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }),
    generationConfig: configOf(request),
  };
}

/** The thinking budget of each effort, in tokens: ai.google.dev/gemini-api/docs/openai#thinking. Flash has no larger one. */
const budgets = { low: 1024, medium: 8192, high: 24_576, max: 24_576 } as const;

function configOf({
  model,
  maxTokens,
  temperature,
  effort,
  output,
}: Omit<WireRequest, 'system' | 'tools' | 'toolChoice'>): JsonObject {
  const { thinking, hasXhigh } = traitsOf(model);
  const level = effort === 'max' ? (hasXhigh ? 'xhigh' : 'high') : effort;
  const amount =
    thinking === 'level' ? { thinkingLevel: level } : { thinkingBudget: effort && budgets[effort] };
  const config = {
    maxOutputTokens: maxTokens,
    temperature,
    thinkingConfig: thinking === 'none' ? undefined : { includeThoughts: true, ...(effort && amount) },
    ...(output && {
      responseMimeType: 'application/json',
      // The service has no field for the name, but the model also sees a title.
      responseJsonSchema: withoutConst({ title: output.name, ...output.schema }),
    }),
  };
  return JSON.parse(JSON.stringify(config));
}

/** Keywords whose values are no schemas, and those whose values are schemas by name. */
const values: ReadonlySet<string> = new Set(['enum', 'default', 'examples', 'required']);
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);

/** Replaces `const`, which the service does not know, by an `enum` of one value. */
function withoutConst(schema: Json, isMap = false): Json {
  if (Array.isArray(schema)) return schema.map((item) => withoutConst(item));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (isMap) return [key, withoutConst(value)];
    if (key === 'const') return ['enum', [value]];
    return [key, values.has(key) ? value : withoutConst(value, maps.has(key))];
  });
  return Object.fromEntries(entries);
}

/** One part of a content. Source: `Part` of @google/genai 3.3.0. */
type Part = JsonObject;

/**
 * Stands for the signature of a call from another model, which Gemini 3 and later would reject without one:
 * ai.google.dev/gemini-api/docs/thought-signatures. Of parallel calls, only the first has a signature.
 */
const foreignSignature = { thoughtSignature: 'skip_thought_signature_validator' };

function partsOf({ parts }: Turn, isSigned: boolean): Part[] {
  const written: Part[] = [];
  for (const part of parts) {
    if (part.type === 'text') written.push({ text: part.text });
    else if (part.type === 'file') written.push(inline(part));
    else if (part.type === 'reasoning')
      written.push({ text: part.text, thought: true, ...signatureIn(part.seal?.data) });
    else if (part.type === 'tool_call') {
      const { id, toolName, arguments: args } = part;
      written.push({
        functionCall: { id, name: toolName, args: args as Json },
        ...signatureIn(part.seal?.data),
      });
    } else if (part.type === 'opaque') {
      // The signature of a text is a part of its own in a message, which follows the text.
      const text = isObject(part.seal.data) && part.seal.data['of'] === 'text' ? written.at(-1) : undefined;
      if (text !== undefined && Object.keys(text).join() === 'text')
        Object.assign(text, signatureIn(part.seal.data));
      else written.push({ text: '', ...signatureIn(part.seal.data) });
    } else written.push(...resultParts(part, isSigned));
  }
  const calls = written.filter((part) => 'functionCall' in part);
  if (isSigned && calls[0] !== undefined && !calls.some((part) => 'thoughtSignature' in part))
    Object.assign(calls[0], foreignSignature);
  return written;
}

function signatureIn(data: unknown): { thoughtSignature?: string } {
  const signature = isObject(data) ? data['thoughtSignature'] : undefined;
  return typeof signature === 'string' ? { thoughtSignature: signature } : {};
}

function inline({ mediaType, data }: FilePart): Part {
  return { inlineData: { mimeType: fileKind(mediaType) === 'text' ? 'text/plain' : mediaType, data } };
}

/** Files that Gemini 3 and later accept inside a result: ai.google.dev/gemini-api/docs/function-calling#multimodal. */
const inResults = /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/;

/** Returns a result, and after it the files that it cannot contain. */
function resultParts(result: Turn['parts'][number] & { type: 'tool_result' }, isSigned: boolean): Part[] {
  const { callId, toolName, content, isError } = result;
  const text = content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
  const files = content.flatMap((item) => (item.type === 'file' ? [inline(item)] : []));
  const fits = ({ inlineData }: Part) =>
    isSigned && inResults.test(String((inlineData as JsonObject)['mimeType']));
  const parts = files.filter(fits);
  const response = isError ? { error: text } : { output: text };
  const written = { id: callId, name: toolName, response, ...(parts.length > 0 && { parts }) };
  return [{ functionResponse: written }, ...files.filter((file) => !fits(file))];
}
