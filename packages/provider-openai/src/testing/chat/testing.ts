import type { ProviderTesting } from '@cobbler/agent/testing';
import { providerName } from '../../models.ts';
import { frame } from '../frame.ts';
import { errorOf, goodHead } from '../wire-error.ts';
import { begin, fail, line, noise } from './answer.ts';
import { read } from './request.ts';
import { refuse } from './rules.ts';

/** The inverse of the Chat Completions wire. */
export const chatTesting: ProviderTesting = {
  provider: providerName,
  contentType: 'text/event-stream; charset=utf-8',
  head: goodHead,
  lacks: {
    seal: 'a message has no field in which reasoning could be sent back',
    interleaving: 'an answer is one text and a list of calls, with no order between them',
    'error-results': 'a tool message has no field that says the call failed; its text has to',
    pause: 'a completion never asks to be continued',
    'context-full-stop': 'a conversation that does not fit is refused as a request and never begun',
  },
  begin,
  line,
  noise,
  frame,
  error: errorOf,
  fail,
  read,
  refuse,
};
