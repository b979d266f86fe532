"use strict";
(function () {
	const figures = JSON.parse(document.getElementById("figures").textContent);
	// Width of A4 within the margins that page.css gives it, in CSS pixels.
	const PRINTED_WIDTH = 680;
	const drawn = [];

	// Closed figures have no width yet: they are drawn when opened.
	function drawVisible() {
		for (const element of document.querySelectorAll(".picture")) {
			if (!element.clientWidth || !figures[element.id] || drawn.includes(element)) continue;
			drawn.push(element);
			Draw.plot(element, figures[element.id]);
		}
	}

	function redraw(size) {
		for (const element of drawn) {
			const figure = figures[element.id];
			Draw.plot(element, { ...figure, layout: { ...figure.layout, ...size } });
		}
	}

	const opened = [];
	function beforePrint() {
		for (const details of document.querySelectorAll("details:not([open])")) {
			details.open = true;
			opened.push(details);
		}
		drawVisible();
		redraw({ width: PRINTED_WIDTH });
	}
	function afterPrint() {
		for (const details of opened.splice(0)) details.open = false;
		redraw({});
	}

	document.addEventListener("toggle", drawVisible, true);
	window.addEventListener("beforeprint", beforePrint);
	window.addEventListener("afterprint", afterPrint);
	drawVisible();
	document.documentElement.dataset.ready = "yes";
})();
