import type { ProviderTesting } from '@cobbler/agent/testing';
import { providerName } from '../../models.ts';
import { frame } from '../frame.ts';
import { errorOf, goodHead } from '../wire-error.ts';
import { begin, fail, line, noise, unknown } from './answer.ts';
import { read } from './request.ts';
import { refuse } from './rules.ts';

/** The mock wire of Chat Completions. */
export const chatTesting: ProviderTesting = {
  provider: providerName,
  contentType: 'text/event-stream; charset=utf-8',
  head: goodHead,
  request: { path: '/chat/completions', key: { header: 'authorization', prefix: 'Bearer ' } },
  lacks: {
    'whole-content': 'a chunk has no number, and no text or call is repeated as a whole',
    seal: 'a message has no field for returning reasoning',
    interleaving: 'a response is one text and a list of calls, without an order between them',
    'error-results': 'a tool message has no error field; its text must say that the call failed',
    pause: 'a completion never pauses for continuation',
    'context-full-stop': 'a conversation that is too long is rejected before a response starts',
  },
  begin,
  line,
  noise,
  unknown,
  frame,
  error: errorOf,
  fail,
  read,
  refuse,
};
