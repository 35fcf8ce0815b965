export function durationText(ms: number): string;
export function bytesText(bytes: number): string;
export function secondsText(seconds: number): string;
export function clockText(ms: number): string;
export function dollarsText(dollars: number): string;
