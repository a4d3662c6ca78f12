import type { Agent, Message, ModelRequest, ModelResponse } from '@cobbler/agent';
import { AgentError, noUsage } from '@cobbler/agent';

/**
 * Returns a scripted model that follows a few fixed rules, so that users can try the assistant without a key. It
 * receives the same input as a real model, so the notes it quotes come from real memory.
 */
export function scriptedModel(): Agent {
  return {
    provider: 'scripted',
    model: 'scripted',
    capabilities: {
      files: [],
      reasoning: false,
      parallelCalls: false,
      output: 'none',
      sampling: false,
      cacheUsage: false,
    },
    async run(request, { signal } = {}) {
      if (signal?.aborted === true)
        throw new AgentError({ kind: 'aborted', code: 'cancelled', message: 'The request was cancelled.' });
      const material = materialIn(request);
      return textResponse(material === undefined ? answerTo(request) : factsIn(material));
    },
  };
}

function textResponse(text: string): ModelResponse {
  return {
    content: text,
    toolCalls: [],
    usage: noUsage,
    stopReason: 'complete',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    model: 'scripted',
    attempts: 1,
    wasted: noUsage,
  };
}

function textOf({ content }: Message): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

interface Line {
  readonly from: string;
  readonly text: string;
}

/** Returns the messages of a summary request, one JSON message per line; undefined for any other request. */
function materialIn({ messages }: ModelRequest): readonly Line[] | undefined {
  const [only, another] = messages;
  if (only === undefined || another !== undefined) return undefined;
  try {
    const lines = textOf(only)
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    return lines.every(isLine) ? lines : undefined;
  } catch {
    return undefined;
  }
}

function isLine(value: unknown): value is Line {
  return typeof value === 'object' && value !== null && 'from' in value && 'text' in value;
}

/** Returns the user's statements, without questions and greetings. */
function factsIn(lines: readonly Line[]): string {
  const facts = lines
    .filter(({ from }) => from === 'person')
    .flatMap(({ text }) => text.split(/(?<=[.!?])\s+|\n+/))
    .map((sentence) => sentence.trim())
    .filter(isStatement);
  return facts.length === 0 ? 'NOTHING' : [...new Set(facts)].join('\n');
}

const greeting = /^(hi|hello|hey|good (morning|day|afternoon|evening)|hallo|moin|salut|hola)\b/i;

const asking =
  /^(who|what|when|where|which|why|how|do|does|did|is|are|am|was|were|can|could|may|will|would|should|have|has|tell|wer|was|wann|wo|warum|wie)\b/i;

function isQuestion(text: string): boolean {
  return text.endsWith('?') || asking.test(text);
}

function isStatement(text: string): boolean {
  return text.split(/\s+/).length >= 3 && !isQuestion(text) && !(greeting.test(text) && text.length < 20);
}

function answerTo({ messages, system = '' }: ModelRequest): string {
  const instructions = typeof system === 'string' ? [system] : system;
  const questions = messages.filter(({ role }) => role === 'user').map(textOf);
  const text = (questions.at(-1) ?? '').trim();
  const now = instructions.find((part) => part.startsWith('The current date'));
  if (/\b(time|date|day)\b.*\?$/i.test(text) && now !== undefined) return now;
  const notes = notesIn(instructions);
  if (isQuestion(text)) {
    if (notes.length > 0)
      return `From my notes: ${notes.map((note) => `“${note.replace(/\.$/, '')}”`).join(', ')}.`;
    const before = findSimilar(text, questions.slice(0, -1));
    if (before !== undefined) return `You told me in this conversation: “${before}”`;
    return 'I do not know that: I am only a script. Tell me something about yourself, and then ask me about it.';
  }
  if (greeting.test(text) && !isStatement(text))
    return 'Hello! Tell me something about yourself, such as: My dog is called Bello. Then ask me about it.';
  if (isStatement(text))
    return `I will remember that. Ask me about it now, after /new, or tomorrow. /memory shows what I remember.`;
  return 'I see. Tell me something in a complete sentence, and I will remember it.';
}

function notesIn(instructions: readonly string[]): string[] {
  const section = instructions.find((part) => part.startsWith('Notes from earlier conversations')) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2));
}

/** Returns the last statement that shares a word with the question. */
function findSimilar(question: string, before: readonly string[]): string | undefined {
  const words = longWords(question);
  return before.findLast(
    (text) => isStatement(text.trim()) && longWords(text).some((word) => words.includes(word)),
  );
}

function longWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .match(/[\p{L}\d]{3,}/gu)
      ?.filter((word) => !asking.test(word)) ?? []
  );
}
