import { testBackend } from './backends.ts';

testBackend('codex');
testBackend('codex app-server');
