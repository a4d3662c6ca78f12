import { isObject } from '@cobbler/agent/provider';

/** A part of a request or a response, as far as the mock uses it. */
export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: unknown };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: { readonly output?: string; readonly error?: string };
    readonly parts?: readonly Part[];
  };
}

/** The body of a request, as far as the mock uses it. */
export interface Body {
  readonly contents: readonly { readonly role: string; readonly parts: readonly Part[] }[];
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly tools?: readonly {
    readonly functionDeclarations: readonly {
      readonly name: string;
      readonly description: string;
      readonly parametersJsonSchema: unknown;
    }[];
  }[];
  readonly toolConfig?: { readonly functionCallingConfig: { readonly mode: string } };
  readonly generationConfig: {
    readonly maxOutputTokens?: number;
    readonly temperature?: number;
    readonly responseJsonSchema?: Readonly<Record<string, unknown>>;
  };
}

type Rule = (body: Body, url: string) => string | undefined;

/** Returns the service's message for a request that it rejects. Each rule names where the message was seen. */
export function problemOf(body: Body, url: string): string | undefined {
  for (const rule of rules) {
    const problem = rule(body, url);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const known = {
  request: ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'],
  part: ['text', 'thought', 'thoughtSignature', 'inlineData', 'functionCall', 'functionResponse'],
};

const mimeTypes =
  /^(image\/(png|jpeg|webp|heic|heif)|audio\/(wav|mp3|mpeg|aiff|aac|ogg|flac)|application\/pdf|text\/plain)$/;

const rules: readonly Rule[] = [
  // gh google-gemini/gemini-cli#13972
  (body) => unknownName(body, known.request, ''),
  // gh googleapis/js-genai#912
  ({ contents }) =>
    contents.length === 0 ? '* GenerateContentRequest.contents: contents is not specified' : undefined,
  // gh router-for-me/CLIProxyAPI#17
  ({ contents }) =>
    contents.every(({ role }) => role === 'user' || role === 'model')
      ? undefined
      : 'Please use a valid role: user, model.',
  // gh vercel/ai#3775
  ({ contents }) => {
    const at = contents.findIndex(({ parts }) => parts.length === 0);
    return at < 0
      ? undefined
      : `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`;
  },
  (body) => firstPart(body, partProblem),
  callProblem,
  signatureProblem,
  // gh PrimeIntellect-ai/prime-agent discussion 1981
  ({ contents }) =>
    contents.at(-1)?.role === 'model' ? 'Requests ending with a model turn are not supported.' : undefined,
  // gh pydantic/pydantic-ai#5791
  ({ toolConfig, tools }) =>
    toolConfig !== undefined && tools === undefined
      ? 'Function calling config is set without function_declarations.'
      : undefined,
];

function unknownName(value: object, names: readonly string[], at: string): string | undefined {
  const name = Object.keys(value).find((key) => !names.includes(key));
  return (
    name && `Invalid JSON payload received. Unknown name "${name}"${at && ` at '${at}'`}: Cannot find field.`
  );
}

function firstPart(
  { contents }: Body,
  check: (part: Part, path: string) => string | undefined,
): string | undefined {
  for (const [at, { parts }] of contents.entries())
    for (const [index, part] of parts.entries()) {
      const problem = check(part, `contents[${at}].parts[${index}]`);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

function partProblem(part: Part, path: string): string | undefined {
  const { inlineData, functionCall, functionResponse } = part;
  const data = ['text', 'inlineData', 'functionCall', 'functionResponse'].filter((name) => name in part);
  // gh router-for-me/CLIProxyAPI#1292
  if (data.length !== 1)
    return `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`;
  // gh charmbracelet/crush#995
  const mimeType = inlineData?.mimeType;
  if (mimeType !== undefined && !mimeTypes.test(mimeType)) return `Unsupported MIME type: ${mimeType}`;
  // gh randombet/bodhi_realtime_agent#10
  const struct = functionCall
    ? ['function_call.args', functionCall.args ?? {}]
    : ['function_response.response', functionResponse?.response ?? {}];
  if (!isObject(struct[1]))
    return `Invalid value at '${path}.${struct[0]}' (type.googleapis.com/google.protobuf.Struct)`;
  return unknownName(part, known.part, path);
}

/**
 * Calls follow the user or results, and each has a result in the next turn: discuss.ai.google.dev/t/62884,
 * gist donbcolab/f9d848c729f5b0499367626c1433d41f, gh google-gemini/gemini-cli#3814.
 */
function callProblem({ contents }: Body): string | undefined {
  for (const [at, { parts }] of contents.entries()) {
    const count = (of: readonly Part[] | undefined, name: string) =>
      of?.filter((part) => name in part).length ?? 0;
    if (count(parts, 'functionCall') > 0 && contents[at - 1]?.role !== 'user')
      return 'Please ensure that function call turns come immediately after a user turn or after a function response turn.';
    const results = count(parts, 'functionResponse');
    const calls = count(contents[at - 1]?.parts, 'functionCall');
    if (results > 0 && calls === 0)
      return 'Please ensure that function response turn comes immediately after a function call turn.';
    if (results !== calls)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  return undefined;
}

/**
 * With Gemini 3 and later, the first call of each step of the current turn has a signature: doc thought-signatures; gh
 * ccch1mneyyy/dsh-Go discussion 2016.
 */
function signatureProblem({ contents }: Body, url: string): string | undefined {
  if (url.includes('/gemini-2')) return undefined;
  const start = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.every((part) => part.functionResponse === undefined),
  );
  for (const { parts } of contents.slice(start + 1)) {
    const at = parts.findIndex(({ functionCall }) => functionCall !== undefined);
    const call = parts[at];
    if (call !== undefined && call.thoughtSignature === undefined)
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.functionCall?.name}\`, position ${at + 1}. Please refer to https://aistudio.google.com/docs/thought-signatures for more details.`;
  }
  return undefined;
}
