/** Texts that try to be interpreted. */
import fc from 'fast-check';

const known = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  ']]><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '</noscript></title></style></textarea><b>x',
  '&lt;b&gt; &amp; &#0;',
  '\u001b[31mred\u001b[0m \u001b]0;title\u0007',
  '\u202egnp.exe\u202c',
  'שלום עולם',
  '\u2028\u2029\u0000\u007f\ud800',
  '\u0024{alert(1)} `x` {{7*7}}',
  'javascript:alert(1)',
  '__proto__',
];

/** Any text, mostly those above, alone and in parts. */
export const hostileText = fc
  .array(
    fc.oneof(fc.constantFrom(...known), fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 12 })),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(''));
