import { visibleText } from '@cobbler/agent/events';

/** The assistant's own messages, in Markdown. */

import { timeOf } from '@cobbler/agent/values';

export const greeting: string = [
  'Hello! Ask me anything, and I will do my best to help.',
  'I remember what we talk about in this chat. Send /help for a list of commands.',
].join('\n\n');

/** The description of each command, in one line. */
export const commandWords = {
  new: 'start a new conversation; memories are kept',
  cancel: 'stop my current reply',
  again: 'send my last answer again, or the answer to the message that you reply to',
  memory: 'show what I remember',
  forget: 'delete everything that I store about this chat',
  export: 'get all messages in this chat as a file',
  timezone: 'set your time zone, for example: /timezone Europe/Berlin',
  help: 'list the commands',
  start: 'say hello',
} as const;

export const help: string = [
  'Just send me a message. I also support these commands:',
  '',
  ...Object.entries(commandWords)
    .filter(([name]) => name !== 'start')
    .map(([name, text]) => `- /${name} — ${text}`),
].join('\n');

export const startedFresh: string = 'This is a new conversation. Earlier messages are not part of it.';
export const stopped: string = 'Stopped.';
export const nothingToStop: string = 'There is nothing to stop.';
export const nothingRemembered: string =
  'I do not remember anything yet, except the latest messages in this chat.';
export const nothingToRepeat: string = 'I do not have an answer to send again.';
export const nothingToExport: string = 'There are no messages in this chat yet.';
export const forgetQuestion: string =
  'Delete all messages in this chat, everything that I remember from it, and the logs of my replies? This cannot be undone.';
export const forgetYes: string = 'Delete everything';
export const forgetNo: string = 'Keep it';
export const kept: string = 'Nothing was deleted.';
export const notDelivered: string =
  'I could not deliver all of my answer to this message. To get the whole answer, send /again as a reply to your message.';
export const replyNotDelivered: string =
  'I could not deliver all of my answer to this message. Please send your message again.';
export const notRepeatable: string = 'I do not have an answer to that message.';
export const mayBeRepeat: string = 'This may be a duplicate.';
export const stillWorking: string = 'I am still working on it. Send /cancel to stop.';
export const noAnswer: string = 'Sorry, I do not have an answer to that. Please rephrase your message.';
export const failed: string =
  'Sorry, something went wrong while I was working on this. Please try again in a moment.';
export const tooSlow: string =
  'Sorry, this took too long and I had to stop. Please try again, or ask for less at a time.';
export const overloaded: string =
  'Sorry, the AI service is overloaded right now. Please try again in a few minutes.';
/** `until` is the time at which the next period of the budget starts, in ISO 8601; undefined if time starts none. */
export function budgetReached(until: string | undefined, timeZone: string): string {
  const reached = 'Sorry, the budget for my answers is used up.';
  if (until === undefined) return `${reached} I cannot answer until my owner raises it.`;
  const date = {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  const when = new Intl.DateTimeFormat('en-GB', { ...date, timeZone }).format(timeOf(until));
  return `${reached} Please send your message again after ${when}.`;
}

export const isOver: string = 'This question is no longer open.';
export const adminsOnly: string = 'Only an admin can raise the limit. You can only stop the work.';
export const notAllShown: string =
  'This call may not be fully visible to you, so you can only deny it. Deny the call and ask me again.';
export const allowYes: string = 'Allow';
export const allowNo: string = 'Deny';

export function mayIUse(toolName: string): string {
  return `May I use **${visibleText(toolName, 'name')}**?`;
}

export function tooLongToShow(characters: number): string {
  return [
    `This call has ${counted(characters, 'character')}, too many to show in messages, so you cannot allow it here.`,
    'The file above contains the complete call. Deny the call and ask me to work in smaller steps.',
  ].join(' ');
}

export function forgotten(messages: number, memories: number): string {
  return `Deleted: ${counted(messages, 'message')} and ${counted(memories, 'memory', 'memories')}.`;
}

/** Returns the note above a part of a reply that may have been sent before. */
export function partMayBeRepeat(part: number, parts: number): string {
  return parts === 1 ? mayBeRepeat : `Part ${part} of ${parts}. ${mayBeRepeat}`;
}

export function unknownCommand(name: string): string {
  return `I do not know the command /${name}. Send /help for a list of commands.`;
}

export function tooMany(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const wait = seconds < 90 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
  return `You are sending messages too quickly. Please wait ${wait} and send your message again.`;
}

export const tooManyWaiting: string =
  'Too many of your messages are waiting for a reply, so I did not accept the last one. Please send it again later.';

export function timeZoneSet(time: string): string {
  return `Your local time is ${time}.`;
}

export function timeZoneAsked(current: string): string {
  return `Your time zone is ${current}. To change it, send a command such as \`/timezone Europe/Berlin\`.`;
}

export function timeZoneUnknown(name: string): string {
  return `“${name.slice(0, 60)}” is not a time zone. Use a name such as \`Europe/Berlin\`, \`America/New_York\` or \`UTC\`.`;
}

export function remembered(texts: readonly string[], more: number): string {
  const lines = texts.map((text) => `- ${text.replaceAll(/\s+/g, ' ')}`);
  return ['What I remember:', '', ...lines, ...(more > 0 ? [`- … and ${more} more`] : [])].join('\n');
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
