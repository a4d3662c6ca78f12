import type { LiveReply, ScriptAnswer } from '@cobbler/agent/testing';
import { framesOf, LiveStream, replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';

/** Streams a response in `count` chunks, one every `everyMs` milliseconds. A string is the text of the response. */
export function slowly(given: string | ScriptAnswer, count: number, everyMs: number): LiveReply {
  const answer = typeof given === 'string' ? scriptResponse([given], { model: 'claude-test' }) : given;
  const frames = framesOf(replies(answer, { steps: responseSteps(answer, count) }), claudeTesting);
  const stream = new LiveStream();
  let timer: NodeJS.Timeout | undefined;
  const send = (index: number) => {
    const frame = frames[index];
    if (frame === undefined) return stream.end();
    stream.send(frame);
    timer = setTimeout(() => send(index + 1), everyMs);
  };
  send(0);
  void stream.left.then(() => clearTimeout(timer));
  return { type: 'live', stream };
}
