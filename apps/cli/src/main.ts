#!/usr/bin/env node
import { invocation } from './invocation.ts';
import { processIo } from './terminal/process-io.ts';

/** Maximum time that remaining work, such as a tool that is being stopped, may keep the process alive, in milliseconds. */
const lingerMs = 6000;

process.exitCode = await invocation(processIo());
setTimeout(() => process.exit(), lingerMs).unref();
