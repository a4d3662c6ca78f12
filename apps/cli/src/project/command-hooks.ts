import { resolve } from 'node:path';
import type { Hook } from '@cobbler/agent';
import { textOf } from '@cobbler/agent';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import type { Environment } from '../terminal/io.ts';
import type { HookDefinition } from './hook-definitions.ts';
import { ourTools } from './tool-names.ts';

/** Where hooks run. */
export interface HookPlace {
  readonly folder: string;
  readonly env: Environment;
  /** For those of a project, whose author is unknown. */
  readonly sandbox: Sandbox;
  /** Tests replace it. */
  readonly supervise?: typeof superviseProcess;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a hook decided: why it blocks, what the model should know, and the changed input of a call. */
interface HookAnswer {
  readonly block?: string;
  readonly asks?: boolean;
  readonly context?: string;
  readonly input?: Fields;
}

type Ask = (given: Fields, context: { sessionId: string; signal: AbortSignal }) => Promise<HookAnswer>;

const maxOutputBytes = 65_536;

/** Number of sessions whose context is remembered. */
const maxSessions = 1000;

/** Returns the hooks of files as hooks of an executor. */
export function commandHooks(definitions: readonly HookDefinition[], place: HookPlace): readonly Hook[] {
  return definitions.map((definition) => {
    const ask = runner(definition, place);
    const { event, name } = definition;
    if (event === 'PreToolUse') return { name, beforeTool: beforeTool(definition, place.folder, ask) };
    if (event === 'PostToolUse') return { name, afterTool: afterTool(definition, place.folder, ask) };
    if (event === 'Stop') return { name, afterRun: afterRun(ask) };
    if (event === 'SessionStart' || event === 'UserPromptSubmit') return startHook(event, name, ask);
    return {
      name,
      beforeCompaction: async (_, context) => ({
        skip: (await ask({ trigger: 'auto' }, context)).block !== undefined,
      }),
    };
  });
}

function beforeTool(definition: HookDefinition, folder: string, ask: Ask): NonNullable<Hook['beforeTool']> {
  return async ({ id, toolName, arguments: args }, context) => {
    const call = callFor(definition, { id, toolName, arguments: args }, folder);
    if (call === undefined) return 'allow';
    const { block, asks, input } = await ask(call, context);
    if (block !== undefined) return { type: 'deny', message: block };
    if (input === undefined) return asks ? 'ask' : 'allow';
    if (asks) throw new Error('it cannot both change a call and ask about it');
    const { file_path: path, ...changed } = input;
    if (typeof path !== 'string') return { type: 'allow', arguments: changed };
    const isSame = path === call.tool_input['file_path'];
    return { type: 'allow', arguments: { ...changed, path: isSame ? args['path'] : path } };
  };
}

function afterTool(definition: HookDefinition, folder: string, ask: Ask): NonNullable<Hook['afterTool']> {
  return async ({ call: made, content, ...rest }, given) => {
    const call = callFor(definition, made, folder);
    if (call === undefined) return undefined;
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    const output = { ...call, tool_response: { content: text, is_error: rest.isError } };
    const { block, context } = await ask(output, given).catch(
      ({ message }: Error): HookAnswer => ({ context: `The hook ${definition.name} failed: ${message}` }),
    );
    const added = [block, context].filter((one) => one !== undefined).join('\n');
    return added === '' ? undefined : { ...rest, content: [...content, { type: 'text', text: added }] };
  };
}

function afterRun(ask: Ask): NonNullable<Hook['afterRun']> {
  const continued = new Set<string>();
  return async ({ status, messages }, context) => {
    if (status !== 'complete') return undefined;
    const last = messages.findLast(({ role }) => role === 'assistant');
    const said = { last_assistant_message: last === undefined ? '' : textOf(last) };
    const { block } = await ask({ stop_hook_active: continued.delete(context.runId), ...said }, context);
    if (block === undefined) return undefined;
    continued.add(context.runId);
    return { continueWith: block };
  };
}

/** What these hooks say becomes a part of the instructions, because the prompt is stored before they run. */
function startHook(event: 'SessionStart' | 'UserPromptSubmit', name: string, ask: Ask): Hook {
  const contexts = new Map<string, string>();
  return {
    name,
    async beforeRun({ messages }, given) {
      const { sessionId } = given;
      if (event === 'SessionStart' && contexts.has(sessionId)) return undefined;
      const source = messages.some(({ role }) => role === 'assistant') ? 'resume' : 'startup';
      const last = messages.findLast(({ role }) => role === 'user');
      const prompt = last === undefined ? '' : textOf(last);
      const { block, context = '' } = await ask(event === 'SessionStart' ? { source } : { prompt }, given);
      if (block !== undefined) throw new Error(block);
      contexts.set(sessionId, context);
      const [oldest = ''] = contexts.keys();
      if (contexts.size > maxSessions) contexts.delete(oldest);
      return undefined;
    },
    beforeRequest({ system = [] }, { sessionId }) {
      const context = contexts.get(sessionId);
      return context ? { system: [...[system].flat(), context] } : undefined;
    },
  };
}

/** Returns a call as scripts for other programs expect it; undefined if the hook does not match its tool. */
function callFor(
  { matcher }: HookDefinition,
  { id, toolName, arguments: args }: { id: string; toolName: string; arguments: Fields },
  folder: string,
) {
  const names = [...[...ourTools].filter(([, own]) => own === toolName).map(([name]) => name), toolName];
  if (matcher !== undefined && !names.some((name) => matcher.test(name))) return undefined;
  const { path } = args;
  const file: Fields = typeof path === 'string' ? { file_path: resolve(folder, path) } : {};
  return { tool_name: names[0], tool_input: { ...args, ...file } as Fields, tool_use_id: id };
}

/** Returns a function that runs the command of a hook. It rejects if the command fails, which blocks what it checks. */
function runner(
  { event, command, timeoutMs, project }: HookDefinition,
  { folder, env, sandbox, supervise = superviseProcess }: HookPlace,
): Ask {
  const cwd = project ?? folder;
  const own = { CLAUDE_PROJECT_DIR: cwd, COBBLER_PROJECT_DIR: cwd };
  return async (given, { sessionId, signal }) => {
    if (project !== undefined && sandbox.missing !== undefined) throw new Error(sandbox.missing);
    const facts = { session_id: sessionId, hook_event_name: event, cwd: folder, permission_mode: 'default' };
    const { cause, code, error, stdout, stderr } = await supervise({
      ...{ argv: ['/bin/sh', '-c', command], cwd, env: childEnvironment(env, own), signal, timeoutMs },
      ...{ input: JSON.stringify({ ...facts, ...given }), maxOutputBytes },
      ...(project !== undefined && { sandbox }),
    }).ended;
    const said = stderr.text().trim();
    if (cause !== 'exit') throw error ?? new Error(`it was stopped (${cause})`);
    if (code === 2) return { block: said || 'A hook blocked this.' };
    if (code !== 0) throw new Error(`exit code ${code ?? 'none'}${said && `: ${said.slice(-1000)}`}`);
    if (stdout.omitted > 0) throw new Error(`it printed more than ${maxOutputBytes} bytes`);
    return readAnswer(stdout.text().trim());
  };
}

/** Reads the output of a hook: JSON, or text for the model. A permission to run a call has no effect. */
function readAnswer(text: string): HookAnswer {
  if (!text.startsWith('{')) return text === '' ? {} : { context: text };
  const { continue: mayContinue, stopReason, decision, reason, hookSpecificOutput } = JSON.parse(text);
  const { permissionDecision, permissionDecisionReason, additionalContext, updatedInput } =
    hookSpecificOutput ?? {};
  const verdict = mayContinue === false ? 'block' : (permissionDecision ?? decision);
  if (verdict === 'deny' || verdict === 'block')
    return { block: String(stopReason ?? permissionDecisionReason ?? reason ?? 'A hook blocked this.') };
  if (!['allow', 'approve', 'ask', undefined].includes(verdict))
    throw new Error(`its decision is ${JSON.stringify(verdict)}`);
  return {
    ...(verdict === 'ask' && { asks: true }),
    ...(typeof additionalContext === 'string' && { context: additionalContext }),
    ...(typeof updatedInput === 'object' && updatedInput !== null && { input: updatedInput }),
  };
}
