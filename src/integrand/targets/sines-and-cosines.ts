/** The values of a list that are the sine and the cosine of one angle: targets reduce the angle once for both. */
import type { Id, Statement } from '../ir.ts';

export function sinesAndCosines(body: Statement[]): Map<Id, { sin: Id; cos: Id; angle: Id }> {
  const calls = { sin: new Map<Id, Id>(), cos: new Map<Id, Id>() };
  for (const s of body)
    if (s.kind === 'let' && s.op === 'call' && (s.fn === 'sin' || s.fn === 'cos'))
      calls[s.fn].set(s.args[0], s.id);
  const both = new Map<Id, { sin: Id; cos: Id; angle: Id }>();
  for (const [angle, sin] of calls.sin) {
    const cos = calls.cos.get(angle);
    if (cos !== undefined) for (const id of [sin, cos]) both.set(id, { sin, cos, angle });
  }
  return both;
}
