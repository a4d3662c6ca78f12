/** A planted bug in delegation. The tests in the file `by` must detect it. */
export interface Mutant {
  /** Path within the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The consequence of the bug. */
  readonly why: string;
  /** The requirements that the bug violates. The test that detects it cites one of them. */
  readonly breaks: readonly string[];
  /** The file of unit tests that must detect the bug. */
  readonly by: string;
}

const tool = 'src/agent-tool/agent-tool.ts';
const sessions = 'src/agent-tool/sessions.ts';
const backend = 'src/cli/cli-backend.ts';
const program = 'src/cli/program.ts';
const agent = 'src/sdk/claude-code-agent.ts';
const byTool = 'test/agent-tool.test.ts';
const byBackend = 'test/backend.test.ts';
const byFaults = 'test/faults.test.ts';
const byAgent = 'test/session-agent.test.ts';
const byEngine = 'test/engine.test.ts';

/** One bug for each requirement of the session agent. */
const sessionAgentMutants: readonly Mutant[] = [
  {
    file: agent,
    find: "new Gatekeeper(session.mode === 'plan', callbacks.canUseTool,",
    replace: "new Gatekeeper(session.mode === 'plan', undefined,",
    why: 'the gate of the caller is not asked',
    breaks: ['S1.1'],
    by: byAgent,
  },
  {
    file: agent,
    find: '    turn.isCancelled = true;\n',
    replace: '',
    why: 'a cancelled run is reported as a late success',
    breaks: ['S1.2'],
    by: byAgent,
  },
  {
    file: agent,
    find: 'await Promise.all([...this.#turns.keys()].map((sessionId) => this.cancel(sessionId)));',
    replace: '',
    why: 'shutdown leaves active prompts running',
    breaks: ['S1.3'],
    by: byAgent,
  },
  {
    file: 'src/session-agent/session-agent.ts',
    find: 'return Object.freeze({ ...nothing, ...given, toolsUsed });',
    replace: 'return { ...nothing, ...given, toolsUsed };',
    why: 'a response is mutable',
    breaks: ['S1.4'],
    by: byAgent,
  },
  {
    file: 'src/sdk/turn.ts',
    find: "if (event.type === 'result') await quietly(() => callbacks.onToolActivity?.(null));",
    replace: '',
    why: 'the end of a tool is not reported',
    breaks: ['S1.5'],
    by: byAgent,
  },
  {
    file: 'src/sdk/turn.ts',
    find: 'await quietly(() => callbacks.onTextChunk?.(part.text));',
    replace: 'void quietly(async () => setTimeout(() => callbacks.onTextChunk?.(part.text), 5));',
    why: 'texts are reported after the tools that followed them',
    breaks: ['S1.6'],
    by: byAgent,
  },
  {
    file: agent,
    find: '      settingSources: [...settingSources],',
    replace: "      settingSources: ['user', 'project'],",
    why: 'the settings of the user are loaded by default',
    breaks: ['S1.7'],
    by: byAgent,
  },
  {
    file: agent,
    find: '[systemPrompt, ...(plans ? [planInstruction] : [])]',
    replace: '[systemPrompt]',
    why: 'the instructions do not mention plan mode',
    breaks: ['S1.8'],
    by: byAgent,
  },
  {
    file: agent,
    find: "...(typeof session.claudeSessionId === 'string' && { resume: session.claudeSessionId }),",
    replace: '',
    why: 'a conversation is never resumed',
    breaks: ['S1.9'],
    by: byAgent,
  },
  {
    file: agent,
    find: 'if (wasResumed && !turn.isCancelled && isStale(result)) {',
    replace: 'if (wasResumed && turn.isCancelled && isStale(result)) {',
    why: 'a lost conversation is not restarted',
    breaks: ['S1.10'],
    by: byAgent,
  },
  {
    file: 'src/sdk/claude-code-agent.ts',
    find: '/500|529|api_error|overloaded|rate_limit/i',
    replace: '/500|529|api_error|overloaded/i',
    why: 'a rate limit does not count as transient',
    breaks: ['S1.11'],
    by: byAgent,
  },
  {
    file: agent,
    find: 'this.#config.retryMs ?? 2000',
    replace: 'this.#config.retryMs ?? 200',
    why: 'the retry starts too early',
    breaks: ['S1.12'],
    by: byAgent,
  },
  {
    file: 'src/sdk/claude-code-agent.ts',
    find: '    return error.retryable === true;',
    replace: '    return words.test(text);',
    why: 'a rejected key is retried because of the text of its error message',
    breaks: ['S1.13'],
    by: byAgent,
  },
  {
    file: agent,
    find: 'if (isTransient(end)) return agentResponse({ ...facts, content: friendlyText, isError: true });',
    replace: '',
    why: 'a persistent transient failure shows the error message of the service',
    breaks: ['S1.14'],
    by: byAgent,
  },
  {
    file: agent,
    find: 'const sessionId = result.sessionId ?? session.claudeSessionId ?? null;\n    session.claudeSessionId = sessionId;',
    replace: 'const sessionId = result.sessionId ?? session.claudeSessionId ?? null;',
    why: 'the id of the conversation is not stored in the session',
    breaks: ['S1.16'],
    by: byAgent,
  },
];

/** One bug for each requirement of the tool `agent`. */
const agentToolMutants: readonly Mutant[] = [
  {
    file: tool,
    find: "name: 'agent',",
    replace: "name: 'delegate',",
    why: 'the tool has another name',
    breaks: ['S2.1'],
    by: byTool,
  },
  {
    file: tool,
    find: 'systemPrompt: args.system_prompt, ',
    replace: '',
    why: 'the instructions of a session are ignored',
    breaks: ['S2.2'],
    by: byTool,
  },
  {
    file: sessions,
    find: '      cli_session_id: session.cliSessionId ?? null,\n',
    replace: '',
    why: 'a report lacks one of the five keys',
    breaks: ['S2.3'],
    by: byTool,
  },
  {
    file: tool,
    find: 'if (inBackground) return answer(sessions.report(sessions.get(id)));',
    replace: '',
    why: 'a background job blocks its caller',
    breaks: ['S2.4'],
    by: byTool,
  },
  {
    file: sessions,
    find: '...(cliSessionId !== undefined && { resumeId: cliSessionId, before: totals }),',
    replace: '',
    why: 'a second message starts a new conversation',
    breaks: ['S2.5'],
    by: byTool,
  },
  {
    file: sessions,
    find: "(this.#live.get(session.id)?.lines ?? []).join('\\n')",
    replace: "''",
    why: 'the status of a running session does not show its progress',
    breaks: ['S2.6'],
    by: byTool,
  },
  {
    file: tool,
    find: 'sessions.all().map((session) => sessions.report(session))',
    replace: 'sessions.all().slice(0, 1).map((session) => sessions.report(session))',
    why: 'the list contains only the first session',
    breaks: ['S2.7'],
    by: byTool,
  },
  {
    file: sessions,
    find: 'this.#options.registry.delete(id);',
    replace: '',
    why: 'a destroyed session stays in the list',
    breaks: ['S2.8'],
    by: byTool,
  },
  {
    file: backend,
    find: 'exitCode: cliProcess?.exitCode ?? null,',
    replace: 'exitCode: null,',
    why: 'the result of a backend has no exit code',
    breaks: ['S2.9'],
    by: byBackend,
  },
  {
    file: backend,
    find: 'findProgram(adapter.program, options.env ?? process.env);',
    replace: "(findProgram(adapter.program, options.env ?? process.env) ?? '/usr/bin/false');",
    why: 'another program is started if the right one is missing',
    breaks: ['S2.10'],
    by: byTool,
  },
  {
    file: program,
    find: '`${program} CLI not found in PATH`',
    replace: '`${program} is not installed`',
    why: 'the message about a missing program is not the specified one',
    breaks: ['S2.11'],
    by: byTool,
  },
  {
    file: 'src/claude/claude-adapter.ts',
    find: "'read-only': ['--permission-mode', 'dontAsk', '--disallowedTools', 'Edit,Write,NotebookEdit'],",
    replace: "'read-only': ['--permission-mode', 'dontAsk'],",
    why: 'Claude Code can write with the permission read-only',
    breaks: ['S2.12'],
    by: byBackend,
  },
  {
    file: 'src/codex/codex-adapter.ts',
    find: "edit: ['--sandbox', 'workspace-write',",
    replace: "edit: ['--sandbox', 'danger-full-access',",
    why: 'Codex can write outside its directory',
    breaks: ['S2.13'],
    by: byBackend,
  },
  {
    file: 'src/agent-tool/session-registry.ts',
    find: '    this.#last += 1;\n    this.#write();\n',
    replace: '    this.#last = this.#sessions.size + 1;\n    this.#write();\n',
    why: 'the id of a destroyed session is reused',
    breaks: ['S2.14'],
    by: byTool,
  },
  {
    file: tool,
    find: 'options.maxSessions ?? 8',
    replace: 'options.maxSessions ?? 9',
    why: 'a ninth session is opened',
    breaks: ['S2.15'],
    by: byTool,
  },
  {
    file: backend,
    find: 'output: limitText(finalText(cliProcess)),',
    replace: 'output: finalText(cliProcess),',
    why: 'output of any length is returned',
    breaks: ['S2.16'],
    by: byFaults,
  },
  {
    file: backend,
    find: 'export const defaultTimeoutMs = 600_000;',
    replace: 'export const defaultTimeoutMs = 6_000_000;',
    why: 'a job can run for 100 minutes',
    breaks: ['S2.17'],
    by: byTool,
  },
  {
    file: sessions,
    find: '        this.#options.registry.put(afterTask(this.get(id), result));\n',
    replace: '        this.get(id);\n',
    why: 'a background job never ends',
    breaks: ['S2.18'],
    by: byTool,
  },
  {
    file: tool,
    find: "isError: result.status !== 'completed',",
    replace: 'isError: false,',
    why: 'a failed job is not an error',
    breaks: ['S2.19'],
    by: byTool,
  },
  {
    file: backend,
    find: "const output = limitText(raw === '' ? error.message : `${error.message}\\n${raw}`);",
    replace: 'const output = limitText(error.message);',
    why: 'output that cannot be parsed is discarded',
    breaks: ['S2.20'],
    by: byFaults,
  },
  {
    file: sessions,
    find: '`session ${id} not found`',
    replace: '`there is no session ${id}`',
    why: 'the message about an unknown session is not the specified one',
    breaks: ['S2.21'],
    by: byTool,
  },
  {
    file: tool,
    find: "const workingDir = await workspace.directory(args.working_dir ?? '.');",
    replace: "const workingDir = args.working_dir ?? (await workspace.directory('.'));",
    why: 'a session can run outside the workspace',
    breaks: ['S2.22'],
    by: byTool,
  },
  {
    file: tool,
    find: 'registry: new SessionRegistry(registryPath(options, workspace.root)),',
    replace: 'registry: new SessionRegistry(undefined),',
    why: 'sessions are lost when the process ends',
    breaks: ['S2.23'],
    by: byTool,
  },
];

const byLosses = 'test/losses.test.ts';

/** Bugs that lose a part of a program's output. */
const lossMutants: readonly Mutant[] = [
  {
    file: 'src/claude/claude-stream.ts',
    find: "if (!isSame) return 'a streamed and a complete block of a response differ';",
    replace: '',
    why: 'Claude Code: a text that differs from its chunks is accepted as the response',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: 'src/claude/claude-stream.ts',
    find: 'if (!this.#calls.has(id)) return `call ${id} has a result but was never reported`;',
    replace: '',
    why: 'Claude Code: a call whose message was lost is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: 'src/codex/codex-stream.ts',
    find: 'if (number > this.#next) return `item_${this.#next} is missing`;',
    replace: '',
    why: 'Codex: a lost message is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
  {
    file: 'src/codex/app-server.ts',
    find: "return problem === undefined ? { type: 'end', ok: true } : malformedEnd(codexName, problem);",
    replace: "return { type: 'end', ok: true };",
    why: 'app server: an item that never ended is not detected',
    breaks: ['P27'],
    by: byLosses,
  },
];

/** All planted bugs, for `npm run verify -- mutants packages/delegate`. */
export const mutants: readonly Mutant[] = [
  ...sessionAgentMutants,
  {
    file: 'src/session-agent/engine.ts',
    find: 'const backend = new SessionAgentBackend(agent, {',
    replace: 'const backend = new SessionAgentBackend(structuredClone(agent), {',
    why: 'a plain object with the three methods cannot be an agent',
    breaks: ['S1.15'],
    by: byEngine,
  },
  ...agentToolMutants,
  ...lossMutants,
];
