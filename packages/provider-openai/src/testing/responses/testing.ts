import type { ProviderTesting } from '@cobbler/agent/testing';
import { providerName } from '../../models.ts';
import { frame } from '../frame.ts';
import { errorOf, goodHead } from '../wire-error.ts';
import { begin, fail, line, noise } from './answer.ts';
import { read } from './request.ts';
import { refuse } from './rules.ts';

/** The inverse of the Responses wire. */
export const responsesTesting: ProviderTesting = {
  provider: providerName,
  contentType: 'text/event-stream; charset=utf-8',
  head: goodHead,
  lacks: {
    'error-results': 'a function_call_output has no field that says the call failed; its text has to',
    sampling: 'the models of this API reason, and reasoning models refuse a temperature',
    pause: 'a response never asks to be continued',
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
