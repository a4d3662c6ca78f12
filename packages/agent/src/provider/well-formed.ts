export { wellFormedJson, wellFormedText } from '../well-formed.ts';
