/** A planted bug in the assistant. The tests named in `by` must detect it. */
export interface Mutant {
  /** Path relative to the directory of the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Description of the bug. */
  readonly why: string;
  /** Requirements that the bug violates. The test that detects it cites one of them. */
  readonly breaks: readonly string[];
  /** The file of unit tests that must detect the bug. */
  readonly by: string;
}

/**
 * All planted bugs, for `npm run verify -- mutants packages/assistant`: at least one for each
 * requirement of the assistant, except those of the model (S3.7 and S3.8), whose bugs are in
 * packages/provider-ai-sdk/test/mutants.ts.
 */
export const mutants: readonly Mutant[] = [
  {
    file: 'src/turn/turn.ts',
    find: "      await messages.add({ id: messageId, chatId, role: 'user', content: text, createdAt: isoTime(sentAt) });\n",
    replace: '',
    why: 'the user message is not stored before the model request',
    breaks: ['S3.1'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/turn.ts',
    find: '{ retry: { retries: 5, firstMs: 500 }, timeoutMs: 60_000 }',
    replace: '{}',
    why: 'the steps around a turn have no time limit',
    breaks: ['S3.2'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/telegram/read-update.ts',
    find: "return known ? undefined : 'not an allowed user';",
    replace: 'return undefined;',
    why: 'an unauthorized user gets a response',
    breaks: ['S3.3'],
    by: 'test/telegram/telegram-read-update.test.ts',
  },
  {
    file: 'src/turn/turn.ts',
    find: "if (status === 'timeout' || error?.kind === 'timeout') return words.tooSlow;",
    replace: '',
    why: 'a timeout of the model is reported as a general failure',
    breaks: ['S3.4'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/turn.ts',
    find: 'return { text: apology(result, moment), isAnswer: false };',
    replace: 'return { text: apology(result, moment), isAnswer: true };',
    why: 'an apology is stored as a message of the model',
    breaks: ['S3.4'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/turn.ts',
    find: "          role: 'assistant',\n",
    replace: "          role: 'user',\n",
    why: 'a reply is stored as a message of the user',
    breaks: ['S3.5'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/turn.ts',
    find: 'limits: { toolCalls, turns: toolCalls + 2 },',
    replace: 'limits: { turns: toolCalls + 2 },',
    why: 'a sixth tool call is made',
    breaks: ['S3.6'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/system-prompt.ts',
    find: '    toolsSection(tools),\n',
    replace: '',
    why: 'the system prompt does not name the tools',
    breaks: ['S3.9'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/storage/schema.ts',
    find: '  content TEXT NOT NULL,\n  created_at',
    replace: '  content TEXT NOT NULL,\n  extra TEXT NOT NULL,\n  created_at',
    why: 'the messages table has a sixth column',
    breaks: ['S3.10'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/turn/history.ts',
    find: 'export const contextMessages = 20;',
    replace: 'export const contextMessages = 25;',
    why: 'the model sees more than the newest 20 messages',
    breaks: ['S3.11'],
    by: 'test/turn/turn.test.ts',
  },
  {
    file: 'src/memory/remember.ts',
    find: 'threshold.messages ?? 40',
    replace: 'threshold.messages ?? 80',
    why: 'messages are summarized much later',
    breaks: ['S3.12'],
    by: 'test/memory/remember.test.ts',
  },
  {
    file: 'src/memory/recall.ts',
    find: '    tell(report, AgentError.from(error));\n    return [];\n',
    replace: '    throw error;\n',
    why: 'a failing memory prevents the reply',
    breaks: ['S3.13'],
    by: 'test/memory/remember.test.ts',
  },
];
