"use strict";
// Draws a figure as SVG, as wide as its element. A figure is `data` and `layout` in plotly's words,
// of which this knows those that reports use. Colours of text and lines are the page's (page.css).
const Draw = (function () {
	const SVG = "http://www.w3.org/2000/svg";
	const NARROW = 560;
	const DASHES = { dash: "8 5", dot: "2 4", dashdot: "8 4 2 4" };
	const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
	// Most of the width that names beside bars may take.
	const NAMES_SHARE = 0.42;
	// The same of figures at the edge behind them.
	const FIGURES_SHARE = 0.24;
	const LINE_HEIGHT = 1.25;
	const canvas = document.createElement("canvas").getContext("2d");
	const drawn = new Map();
	let numbers = 0;

	function make(parent, name, attributes, text) {
		const element = document.createElementNS(SVG, name);
		for (const [key, value] of Object.entries(attributes || {})) {
			if (value !== undefined && value !== null) element.setAttribute(key, value);
		}
		if (text !== undefined) element.textContent = text;
		parent.append(element);
		return element;
	}

	// Text of figures is escaped, as plotly's readers of tags want it; here it stays text.
	const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&amp;": "&" };
	const unescaped = (text) => text.replace(/&(lt|gt|quot|#x27|amp);/g, (one) => ENTITIES[one]);
	const lines = (text) => String(text).split("<br>").map((line) => unescaped(line.replace(/<\/?b>/g, "")));

	function si(value, digits) {
		if (!value) return "0";
		const [size, prefix] = PREFIXES.find(([one]) => Math.abs(value) >= one * 0.9999999) || PREFIXES[PREFIXES.length - 1];
		return `${Number((value / size).toPrecision(digits))}${prefix}`;
	}

	function formatted(value, format) {
		if (typeof value !== "number" || !format) return String(value);
		const digits = Number(format.match(/\.(\d+)/)?.[1] ?? 6);
		if (format.endsWith("f")) return value.toFixed(digits);
		if (format.endsWith("s")) return si(value, digits);
		return String(Number(value.toPrecision(digits)));
	}

	function tip(trace, point) {
		const template = trace.hovertemplate ?? `${trace.name ?? ""} %{y:.4g}`;
		const filled = template.replace("<extra></extra>", "")
			.replace(/%\{(\w+)(?:\[(\d+)\])?(?::([^}]*))?\}/g, (_, name, at, format) => {
				const value = at === undefined ? point[name] : point[name]?.[Number(at)];
				return formatted(value ?? "", format);
			});
		return lines(filled).join("\n");
	}

	// Text in the units of the drawing.
	function writer(size, family) {
		const widthOf = (text, bold) => {
			canvas.font = `${bold ? "bold " : ""}${size}px ${family}`;
			return canvas.measureText(text).width;
		};
		// Lines no wider than that; a word that is wider is broken.
		const wrap = (text, width) => lines(text).flatMap((line) => {
			const made = [];
			let now = "";
			for (const word of line.split(" ")) {
				const next = now ? `${now} ${word}` : word;
				if (!now || widthOf(next) <= width) {
					now = next;
				} else {
					made.push(now);
					now = word;
				}
				while (widthOf(now) > width && now.length > 4) {
					let end = now.length - 1;
					while (end > 3 && widthOf(now.slice(0, end)) > width) end -= 1;
					made.push(now.slice(0, end));
					now = now.slice(end);
				}
			}
			return [...made, now];
		});
		return { size, widthOf, wrap, height: size * LINE_HEIGHT };
	}

	// Lines of text around a point: `up` is the share of their height that lies above it.
	function write(parent, pen, text, x, y, anchor, up, more) {
		const all = Array.isArray(text) ? text : lines(text);
		const size = more?.size ?? pen.size;
		const step = size * LINE_HEIGHT;
		const top = y - up * all.length * step + 0.8 * size + (step - size) / 2;
		const group = make(parent, "text", {
			x, y: top, "text-anchor": anchor, "font-size": size, class: more?.name, transform: more?.turn,
			"font-weight": /^<b>/.test(text) ? "bold" : undefined, opacity: more?.opacity,
		});
		all.forEach((line, at) => {
			const bold = !at && more?.lead && line.startsWith(more.lead) ? more.lead : "";
			if (bold) make(group, "tspan", { x, "font-weight": "bold" }, bold);
			make(group, "tspan", bold ? {} : { x, dy: at ? step : undefined }, line.slice(bold.length));
		});
		return group;
	}

	function niceStep(span, count) {
		const rough = span / Math.max(count, 1);
		const size = 10 ** Math.floor(Math.log10(rough));
		return size * ([1, 2, 2.5, 5, 10].find((one) => one * size >= rough) || 10);
	}

	function linearTicks(low, high, count) {
		const step = niceStep(high - low, count);
		const digits = (String(Number(step.toPrecision(3))).split(".")[1] || "").length;
		const ticks = [];
		for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) {
			// No -0.
			ticks.push([Math.abs(at) < step / 1e6 ? 0 : at, digits]);
		}
		return ticks;
	}

	function labelled(value, digits, axis) {
		if (axis.exponentformat === "SI" || Math.abs(value) >= 1e6) return si(value, 6);
		return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
	}

	function logTicks(low, high, axis) {
		const first = Math.floor(Math.log10(low));
		const last = Math.ceil(Math.log10(high));
		const factors = last - first <= 2 ? [1, 2, 5] : [1];
		const every = Math.ceil((last - first) / 8);
		const ticks = [];
		for (let power = first; power <= last; power += every) {
			for (const factor of factors) {
				const value = factor * 10 ** power;
				if (value < low * 0.999 || value > high * 1.001) continue;
				ticks.push([value, axis.exponentformat === "SI" || value >= 1e4 ? si(value, 3) : String(Number(value.toPrecision(3)))]);
			}
		}
		return ticks;
	}

	const finite = (values) => values.filter((value) => typeof value === "number" && Number.isFinite(value));
	const spread = (error, at, sign) => {
		if (!error || error.visible === false) return 0;
		return (sign < 0 && error.symmetric === false ? error.arrayminus?.[at] : error.array?.[at]) || 0;
	};

	// Sums of stacked bars by their place, and all single values.
	function extents(traces, letter, layout) {
		const values = [];
		const sums = new Map();
		for (const trace of traces) {
			const along = trace.orientation === "h" ? "x" : "y";
			if (trace.type === "bar" && along === letter) {
				values.push(0);
				const places = trace[letter === "x" ? "y" : "x"];
				trace[letter].forEach((value, at) => {
					const below = layout.barmode === "stack" ? sums.get(places[at]) || 0 : 0;
					sums.set(places[at], below + (value || 0));
					values.push(below + (value || 0), (value || 0) + spread(trace[`error_${letter}`], at, 1));
				});
			} else {
				const own = finite(trace[letter] || []);
				for (const value of own) values.push(value);
				(trace[letter] || []).forEach((value, at) => {
					if (typeof value !== "number") return;
					values.push(value + spread(trace[`error_${letter}`], at, 1), value - spread(trace[`error_${letter}`], at, -1));
				});
			}
		}
		return finite(values);
	}

	// An axis before it has a length: its kind, its range or its names.
	function axisOf(name, layout, data) {
		const letter = name[0];
		const spec = layout[`${letter}axis${name.slice(1)}`] || {};
		const traces = data.filter((trace) => trace.type !== "sankey" && (trace[`${letter}axis`] || letter) === name);
		const words = traces.flatMap((trace) => (trace[letter] || []).filter((value) => typeof value === "string"));
		if (spec.type === "category" || words.length) {
			const names = [...new Set([...(spec.categoryarray || []), ...words])];
			const range = spec.range || [-0.5, names.length - 0.5];
			return { name, letter, spec, kind: "category", names, range: spec.autorange === "reversed" ? [range[1], range[0]] : range };
		}
		let values = extents(traces, letter, layout);
		if (spec.type === "log") {
			values = values.filter((value) => value > 0);
			const low = Math.min(...(values.length ? values : [1]));
			const high = Math.max(...(values.length ? values : [10]));
			const range = spec.range ? spec.range.map((one) => 10 ** one) : [low / 1.25, high * 1.25];
			return { name, letter, spec, kind: "log", range };
		}
		let low = values.length ? Math.min(...values) : 0;
		let high = values.length ? Math.max(...values) : 1;
		if (spec.rangemode === "tozero") {
			low = Math.min(low, 0);
			high = Math.max(high, 0);
		}
		if (high === low) high = low + (Math.abs(low) || 1);
		const room = (high - low) * 0.05;
		const range = [low < 0 || (low > 0 && spec.rangemode !== "tozero") ? low - room : low, high > 0 ? high + room : high];
		return { name, letter, spec, kind: "linear", range: spec.range || range };
	}

	function place(axis, value) {
		let at = value;
		let [low, high] = axis.range;
		if (axis.kind === "category") at = typeof value === "number" ? value : axis.names.indexOf(value);
		if (axis.kind === "log") [at, low, high] = [Math.log10(Math.max(value, 1e-300)), Math.log10(low), Math.log10(high)];
		return axis.start + ((at - low) / (high - low)) * (axis.end - axis.start);
	}

	function ticksOf(axis, pen) {
		const length = Math.abs(axis.end - axis.start);
		if (axis.spec.tickvals) {
			const [low, high] = [Math.min(...axis.range), Math.max(...axis.range)];
			return axis.spec.tickvals.map((value, at) => [value, axis.spec.ticktext?.[at] ?? String(value)])
				.filter(([value]) => value >= low && value <= high);
		}
		if (axis.kind === "category") return axis.names.map((name) => [name, name]);
		if (axis.kind === "log") return logTicks(...axis.range, axis);
		const count = axis.letter === "x" ? length / (7 * pen.size) : length / (3.6 * pen.size);
		return linearTicks(Math.min(...axis.range), Math.max(...axis.range), Math.min(count, 9))
			.map(([value, digits]) => [value, labelled(value, digits, axis)]);
	}

	function sides(figure, axes, pen, width) {
		const { layout } = figure;
		const margin = { l: 8, r: 12, t: 28, b: 40, ...layout.margin };
		for (const axis of axes.filter((one) => one.letter === "y")) {
			const inner = (layout.height - margin.t - margin.b) * (axis.spec.domain ? axis.spec.domain[1] - axis.spec.domain[0] : 1);
			Object.assign(axis, { start: inner, end: 0 });
			const most = width * NAMES_SHARE;
			const wide = Math.max(0, ...ticksOf(axis, pen).map(([, text]) => Math.max(...pen.wrap(text, most).map((one) => pen.widthOf(one)))));
			const needed = wide + 12 + (axis.spec.title?.text ? pen.height + 4 : 0);
			const side = axis.spec.side === "right" ? "r" : "l";
			margin[side] = Math.max(side === "l" ? 8 : margin.r, Math.ceil(needed), axis.kind === "category" ? 0 : margin[side] === 12 ? 12 : 0);
			axis.most = most;
		}
		return margin;
	}

	function drawAxis(under, over, axis, box, pen) {
		const horizontal = axis.letter === "x";
		const ticks = ticksOf(axis, pen);
		const title = axis.spec.title?.text;
		const across = horizontal ? [box.top, box.bottom] : [box.left, box.right];
		if (axis.spec.showgrid !== false && axis.kind !== "category" && !axis.spec.overlaying) {
			for (const [value] of ticks) {
				const at = place(axis, value);
				make(under, "line", horizontal
					? { x1: at, x2: at, y1: across[0], y2: across[1], class: "grid" }
					: { x1: across[0], x2: across[1], y1: at, y2: at, class: "grid" });
			}
		}
		if (horizontal) {
			const room = (axis.end - axis.start) / Math.max(ticks.length, 1);
			const widest = Math.max(0, ...ticks.map(([, text]) => pen.widthOf(text)));
			const turned = axis.kind === "category" && widest > room - 6;
			let free = -Infinity;
			for (const [value, text] of ticks) {
				const at = place(axis, value);
				if (turned) {
					write(over, pen, [text], at, box.bottom + 8, "end", 0, { turn: `rotate(-40 ${at} ${box.bottom + 8})`, name: "tick" });
					continue;
				}
				const half = pen.widthOf(text) / 2;
				if (at - half < free) continue;
				free = at + half + 8;
				write(over, pen, [text], at, box.bottom + 4, "middle", 0, { name: "tick" });
			}
			make(over, "line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "base" });
			if (title) write(over, pen, title, (box.left + box.right) / 2, box.bottom + 6 + pen.height, "middle", 0, { name: "title" });
			return;
		}
		const right = axis.spec.side === "right";
		for (const [value, text] of ticks) {
			const x = right ? box.right + 6 : box.left - 6;
			const words = axis.kind === "category" ? pen.wrap(text, axis.most) : [text];
			const lead = unescaped(text.match(/^<b>(.*?)<\/b>/)?.[1] || "");
			write(over, pen, words, x, place(axis, value), right ? "start" : "end", 0.5, { name: "tick", lead });
		}
		if (title) {
			const x = right ? box.width - pen.size * 0.9 : pen.size * 0.9;
			const y = (axis.start + axis.end) / 2;
			write(over, pen, title, x, y, "middle", 0.5, { name: "title", turn: `rotate(-90 ${x} ${y})` });
		}
	}

	function fillOf(defs, marker, at) {
		const pick = (value) => (Array.isArray(value) ? value[at] : value);
		const colour = pick(marker?.color) || "#999999";
		const shape = pick(marker?.pattern?.shape);
		if (!shape) return colour;
		const name = `pattern-${defs.dataset.number}-${colour.replace(/\W/g, "")}-${shape.codePointAt(0)}`;
		if (![...defs.children].some((one) => one.id === name)) {
			const pattern = make(defs, "pattern", { id: name, width: 8, height: 8, patternUnits: "userSpaceOnUse" });
			make(pattern, "rect", { width: 8, height: 8, fill: colour });
			const strokes = { "/": "M-2 2L2-2M0 8L8 0M6 10L10 6", x: "M0 0L8 8M8 0L0 8", "-": "M0 4H8", ".": "M4 4h.01" };
			make(pattern, "path", { d: strokes[shape] || strokes["/"], stroke: "#ffffff", "stroke-width": shape === "." ? 3 : 1.6, "stroke-linecap": "round", fill: "none" });
		}
		return `url(#${name})`;
	}

	function errorBar(parent, axis, other, error, value, at, across) {
		const from = place(axis, value - spread(error, at, -1));
		const to = place(axis, value + spread(error, at, 1));
		if (Math.abs(from - to) < 0.5) return;
		const d = axis.letter === "y"
			? `M${across} ${from}V${to}M${across - 4} ${from}h8M${across - 4} ${to}h8`
			: `M${from} ${across}H${to}M${from} ${across - 4}v8M${to} ${across - 4}v8`;
		make(parent, "path", { d, class: "error" });
	}

	function drawBars(context, traces, layout) {
		const { part, over, defs, hits, pen } = context;
		const sums = new Map();
		traces.forEach((trace, number) => {
			const flat = trace.orientation === "h";
			const [along, across] = flat ? [context.x, context.y] : [context.y, context.x];
			const [values, places] = flat ? [trace.x, trace.y] : [trace.y, trace.x];
			const unit = across.kind === "category" ? 1 : undefined;
			const grouped = layout.barmode === "group" ? traces.length : 1;
			values.forEach((value, at) => {
				if (typeof value !== "number") return;
				const given = Array.isArray(trace.width) ? trace.width[at] : trace.width;
				const whole = given ?? (unit ?? 1) * (1 - (layout.bargap ?? 0.25));
				const centre = across.kind === "category" ? across.names.indexOf(places[at]) : places[at];
				const wide = whole / grouped;
				const from = centre - whole / 2 + (grouped > 1 ? number * wide : 0);
				const key = `${places[at]} ${value < 0}`;
				const base = layout.barmode === "stack" ? sums.get(key) || 0 : 0;
				sums.set(key, base + value);
				const [a, b] = [place(along, base), place(along, base + value)];
				const [c, d] = [place(across, from), place(across, from + wide)];
				const box = flat
					? { x: Math.min(a, b), y: Math.min(c, d), width: Math.abs(a - b), height: Math.abs(c - d) }
					: { x: Math.min(c, d), y: Math.min(a, b), width: Math.abs(c - d), height: Math.abs(a - b) };
				make(part, "rect", { ...box, fill: fillOf(defs, trace.marker, at), class: Math.min(box.width, box.height) > 3 ? "bar" : undefined });
				hits.push({ ...box, text: tip(trace, { x: trace.x[at], y: trace.y[at], customdata: trace.customdata?.[at] }) });
				const middle = flat ? box.y + box.height / 2 : box.x + box.width / 2;
				errorBar(over, along, across, trace[`error_${along.letter}`], base + value, at, middle);
				if (trace.text?.[at]) barText(context, pen, trace.text[at], box, value, flat, over);
			});
		});
	}

	// Beside lying bars all figures stand in a column at the edge, above others each on its own.
	function barText(context, pen, text, box, value, flat, over) {
		if (flat) {
			const words = pen.wrap(text, FIGURES_SHARE * context.box.width);
			write(over, pen, words, context.box.right + 8, box.y + box.height / 2, "start", 0.5);
		} else {
			write(over, pen, text, box.x + box.width / 2, value < 0 ? box.y + box.height + 2 : box.y - 2, "middle", value < 0 ? 0 : 1);
		}
	}

	// Room for that column.
	function edge(data, pen, width) {
		const texts = data.filter((trace) => trace.orientation === "h").flatMap((trace) => trace.text || []);
		const widths = texts.flatMap((text) => pen.wrap(text, FIGURES_SHARE * width)).map((line) => pen.widthOf(line));
		return widths.length ? Math.ceil(Math.max(...widths)) + 10 : 0;
	}

	function mark(symbol, x, y, size) {
		const half = size / 2;
		if (symbol === "x") return `M${x - half} ${y - half}l${size} ${size}m0 ${-size}l${-size} ${size}`;
		if (symbol === "line-ns") return `M${x} ${y - half}v${size}`;
		return `M${x} ${y}h0`;
	}

	function drawLine(context, trace) {
		const { part, hits, x, y } = context;
		const mode = trace.mode || "lines";
		const points = trace.x.map((value, at) => (
			value === null || trace.y[at] === null || trace.y[at] === undefined || (y.kind === "log" && !(trace.y[at] > 0)) ? null
				: { x: value, y: trace.y[at], customdata: trace.customdata?.[at], at, px: place(x, value), py: place(y, trace.y[at]) }
		));
		const real = points.filter(Boolean);
		const colour = trace.line?.color || (Array.isArray(trace.marker?.color) ? "" : trace.marker?.color) || "#999999";
		const step = trace.line?.shape === "hv";
		if (mode.includes("lines")) {
			let path = "";
			let before = null;
			for (const point of points) {
				if (point) {
					const [px, py] = [point.px.toFixed(1), point.py.toFixed(1)];
					path += !before ? `M${px} ${py}` : step ? `H${px}V${py}` : `L${px} ${py}`;
				}
				before = point;
			}
			make(part, "path", {
				d: path, fill: "none", stroke: colour, "stroke-width": trace.line?.width ?? 2,
				"stroke-dasharray": DASHES[trace.line?.dash], "stroke-linejoin": "round", "stroke-linecap": trace.line?.dash ? undefined : "round",
			});
		}
		for (const point of real) {
			for (const [axis, error, across] of [[y, trace.error_y, point.px], [x, trace.error_x, point.py]]) {
				if (error) errorBar(part, axis, null, error, axis.letter === "y" ? point.y : point.x, point.at, across);
			}
		}
		if (mode.includes("markers")) {
			const symbol = trace.marker?.symbol || "circle";
			const size = trace.marker?.size ?? 7;
			const groups = new Map();
			for (const point of real) {
				const own = Array.isArray(trace.marker?.color) ? trace.marker.color[point.at] : trace.marker?.color || colour;
				groups.set(own, (groups.get(own) || "") + mark(symbol, point.px.toFixed(1), point.py.toFixed(1), size));
			}
			for (const [own, d] of groups) {
				make(part, "path", { d, stroke: own === "ink" ? "currentColor" : own, fill: "none", "stroke-width": symbol === "circle" ? size : trace.marker?.width ?? 2.2, "stroke-linecap": symbol === "line-ns" ? "butt" : "round" });
			}
		}
		for (const point of real) hits.push({ px: point.px, py: point.py, text: tip(trace, point) });
	}

	function coordinate(context, reference, letter, value) {
		const { box, axes } = context;
		if (reference === "paper") return letter === "x" ? box.left + value * (box.right - box.left) : box.bottom - value * (box.bottom - box.top);
		return place(axes.get(reference || letter), value);
	}

	function drawShape(context, shape) {
		const [x0, x1] = [shape.x0, shape.x1].map((value) => coordinate(context, shape.xref, "x", value));
		const [y0, y1] = [shape.y0, shape.y1].map((value) => coordinate(context, shape.yref, "y", value));
		const parent = shape.layer === "below" ? context.under : context.over;
		if (shape.type === "rect") {
			make(parent, "rect", { x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0), fill: shape.fillcolor });
		} else if (shape.type === "break") {
			// Two slanted gaps in a bar that goes on beyond the axis.
			for (const down of [10, 18]) make(parent, "path", { d: `M${x0 - 2} ${y0 + down + 4}L${x1 + 2} ${y0 + down - 4}`, class: "gap" });
		} else {
			make(parent, "line", { x1: x0, x2: x1, y1: y0, y2: y1, stroke: shape.line?.color, class: shape.line?.color ? undefined : "rule", "stroke-width": shape.line?.width ?? 1, "stroke-dasharray": DASHES[shape.line?.dash] });
		}
	}

	function drawNote(context, note) {
		const x = coordinate(context, note.xref, "x", note.x);
		const y = coordinate(context, note.yref, "y", note.y) - (note.yshift || 0);
		const anchor = { left: "start", right: "end" }[note.xanchor] || "middle";
		const up = { bottom: 1, top: 0 }[note.yanchor] ?? 0.5;
		write(context.over, context.pen, note.text, x, y, anchor, up, {
			size: note.font?.size, opacity: note.opacity, turn: note.textangle ? `rotate(${note.textangle} ${x} ${y})` : undefined, name: "halo",
		});
	}

	function drawAxes(root, figure, width, pen) {
		const { data, layout } = figure;
		const names = (letter) => [...new Set([
			...data.map((trace) => trace[`${letter}axis`] || letter),
			...Object.keys(layout).filter((key) => key.startsWith(`${letter}axis`)).map((key) => letter + key.slice(5)),
		])];
		const axes = new Map([...names("x"), ...names("y")].map((name) => [name, axisOf(name, layout, data)]));
		const margin = sides(figure, [...axes.values()], pen, width);
		margin.r = Math.max(margin.r, edge(data, pen, width));
		const box = { left: margin.l, right: width - margin.r, top: margin.t, bottom: layout.height - margin.b, width };
		for (const axis of axes.values()) {
			const [from, to] = axis.spec.domain || [0, 1];
			const flat = axis.letter === "x";
			const [start, end] = flat ? [box.left, box.right] : [box.bottom, box.top];
			axis.start = start + from * (end - start);
			axis.end = start + to * (end - start);
		}
		const [defs, under] = [make(root, "defs"), make(root, "g")];
		defs.dataset.number = String(numbers += 1);
		const inner = make(root, "g");
		const over = make(root, "g");
		const hits = [];
		const context = { axes, box, pen, under, over, defs, hits };
		// By panel: a pair of axes has a clip of its own.
		const panels = new Map();
		for (const trace of data) {
			const key = `${trace.xaxis || "x"} ${trace.yaxis || "y"}`;
			panels.set(key, [...(panels.get(key) || []), trace]);
		}
		const seen = new Set();
		for (const [key, traces] of panels) {
			const [x, y] = key.split(" ").map((name) => axes.get(name));
			const panel = { left: x.start, right: x.end, top: y.end, bottom: y.start, width };
			// An axis of several panels stands beneath the last.
			const shared = [...panels.keys()].filter((one) => one.split(" ")[0] === x.name).length > 1;
			for (const axis of [x, y]) {
				const around = axis === x && shared ? { ...panel, top: box.top, bottom: box.bottom } : panel;
				if (!seen.has(axis) && axis.spec.visible !== false) drawAxis(under, over, axis, around, pen);
				seen.add(axis);
			}
			const clip = `clip-${defs.dataset.number}-${panels.size}-${key.replace(" ", "-")}`;
			make(make(defs, "clipPath", { id: clip }), "rect", { x: panel.left - 5, y: panel.top - 5, width: panel.right - panel.left + 10, height: panel.bottom - panel.top + 10 });
			const part = make(inner, "g", { "clip-path": `url(#${clip})` });
			const mine = { ...context, part, x, y, box: panel };
			drawBars(mine, traces.filter((trace) => trace.type === "bar"), layout);
			for (const trace of traces.filter((one) => one.type !== "bar")) drawLine(mine, trace);
			if (y.kind !== "category" && y.range[0] < 0 && y.range[1] > 0) make(over, "line", { x1: panel.left, x2: panel.right, y1: place(y, 0), y2: place(y, 0), class: "base" });
			if (x.kind !== "category" && traces.some((one) => one.orientation === "h")) make(over, "line", { x1: place(x, Math.max(0, x.range[0])), x2: place(x, Math.max(0, x.range[0])), y1: panel.top, y2: panel.bottom, class: "base" });
		}
		for (const shape of layout.shapes || []) drawShape(context, shape);
		for (const note of layout.annotations || []) drawNote(context, note);
		return hits;
	}

	// Places as columns of blocks, packets as ribbons between them; each block has its words beside it.
	function drawSankey(root, figure, width, pen) {
		const [{ node, link }] = figure.data;
		const count = node.label.length;
		const rank = Array(count).fill(0);
		for (let round = 0; round < count; round += 1) {
			link.source.forEach((from, at) => { rank[link.target[at]] = Math.max(rank[link.target[at]], rank[from] + 1); });
		}
		const last = Math.max(...rank, 1);
		const thick = 14;
		const ends = width * (width < NARROW ? 0.4 : 0.5);
		const columns = [...Array(last + 1).keys()].map((at) => (at * ends) / last);
		const flow = (at, side) => link.value.reduce((sum, value, one) => sum + (link[side][one] === at ? value : 0), 0);
		const blocks = node.label.map((label, at) => {
			const room = rank[at] === last ? width - ends - thick - 10 : ends / last - thick - 8;
			return { label: pen.wrap(label, room), size: Math.max(flow(at, "source"), flow(at, "target")), x: columns[rank[at]] };
		});
		const whole = Math.max(...columns.map((_, one) => blocks.reduce((sum, block, at) => sum + (rank[at] === one ? block.size : 0), 0)));
		const scale = Math.min(200, figure.layout.height) / whole;
		let height = 0;
		columns.forEach((_, one) => {
			let top = 6;
			blocks.forEach((block, at) => {
				if (rank[at] !== one) return;
				block.height = Math.max(block.size * scale, 1.5);
				const needed = Math.max(block.height, block.label.length * pen.height);
				block.top = top + (needed - block.height) / 2;
				block.middle = top + needed / 2;
				top += needed + 10;
			});
			height = Math.max(height, top);
		});
		const hits = [];
		const used = blocks.map((block) => ({ in: block.top, out: block.top }));
		link.source.forEach((from, at) => {
			const to = link.target[at];
			const [a, b] = [blocks[from], blocks[to]];
			const thickness = Math.max(link.value[at] * scale, 1.5);
			const [x0, x1, y0, y1] = [a.x + thick, b.x, used[from].out, used[to].in];
			const middle = (x0 + x1) / 2;
			make(root, "path", {
				d: `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}V${y1 + thickness}C${middle} ${y1 + thickness} ${middle} ${y0 + thickness} ${x0} ${y0 + thickness}Z`,
				fill: link.color[at],
			});
			hits.push({ px: middle, py: (y0 + y1 + thickness) / 2, reach: 40, text: lines(link.customdata[at]).join("\n") });
			used[from].out += thickness;
			used[to].in += thickness;
		});
		blocks.forEach((block, at) => {
			make(root, "rect", { x: block.x, y: block.top, width: thick, height: block.height, fill: node.color[at] });
			write(root, pen, block.label, block.x + thick + 6, block.middle, "start", 0.5, { name: "halo" });
			hits.push({ x: block.x, y: block.top, width: thick, height: block.height, text: block.label.join("\n") });
		});
		for (const note of figure.layout.annotations || []) {
			write(root, pen, note.text, width * note.x, height * (1 - note.y), "middle", 0.5, { size: note.font?.size, opacity: note.opacity });
		}
		root.setAttribute("viewBox", `0 0 ${width} ${height}`);
		root.setAttribute("height", height);
		return hits;
	}

	function legend(element, figure) {
		const list = document.createElement("ul");
		list.className = "legend";
		for (const trace of figure.data.filter((one) => one.name && one.showlegend !== false)) {
			const item = document.createElement("li");
			const swatch = document.createElement("span");
			swatch.className = "swatch";
			swatch.style.backgroundColor = trace.line?.color || trace.marker?.color;
			item.append(swatch, lines(trace.name).join(" "));
			list.append(item);
		}
		element.append(list);
	}

	function nearest(hits, x, y) {
		const inside = hits.filter((hit) => hit.width !== undefined && x >= hit.x - 1 && x <= hit.x + hit.width + 1 && y >= hit.y - 1 && y <= hit.y + hit.height + 1);
		if (inside.length) return inside[inside.length - 1];
		let best = null;
		let least = Infinity;
		for (const hit of hits) {
			if (hit.px === undefined) continue;
			const far = Math.hypot(hit.px - x, hit.py - y);
			if (far < Math.min(least, hit.reach || 24)) [best, least] = [hit, far];
		}
		return best;
	}

	function point(element, event) {
		const { hits, box } = drawn.get(element);
		const bounds = element.getBoundingClientRect();
		const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
		const hit = nearest(hits, x, y);
		box.hidden = !hit?.text;
		if (box.hidden) return;
		box.textContent = hit.text;
		const left = Math.min(Math.max(x + 12, 4), element.clientWidth - box.offsetWidth - 4);
		box.style.left = `${Math.max(left, 0)}px`;
		box.style.top = `${y + 16}px`;
	}

	function plot(element, figure) {
		const first = !drawn.has(element);
		const width = figure.layout.width || element.clientWidth;
		if (!width) return;
		const family = getComputedStyle(element).fontFamily;
		const pen = writer(width < NARROW ? 12 : 13, family);
		const root = document.createElementNS(SVG, "svg");
		for (const [key, value] of Object.entries({ class: "chart", width, height: figure.layout.height, viewBox: `0 0 ${width} ${figure.layout.height}`, "aria-hidden": "true" })) root.setAttribute(key, value);
		const hits = figure.data[0]?.type === "sankey" ? drawSankey(root, figure, width, pen) : drawAxes(root, figure, width, pen);
		const box = document.createElement("div");
		box.className = "tip";
		box.hidden = true;
		element.replaceChildren(root, box);
		if (figure.layout.showlegend) legend(element, figure);
		// It may be higher or lower than the page expected; what follows comes as near.
		element.style.minHeight = "";
		drawn.set(element, { hits, box, figure, width });
		if (!first) return;
		element.addEventListener("pointermove", (event) => point(element, event));
		element.addEventListener("pointerleave", () => { drawn.get(element).box.hidden = true; });
		resized.observe(element);
	}

	const resized = new ResizeObserver((entries) => {
		for (const { target } of entries) {
			const known = drawn.get(target);
			if (known && !known.figure.layout.width && target.clientWidth && target.clientWidth !== known.width) plot(target, known.figure);
		}
	});

	return { plot, plain: (text) => text.replace(/[&<>]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[one]) };
})();
