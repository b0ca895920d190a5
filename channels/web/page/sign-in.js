// The sign-in page: exchanges the access token for a cookie.

import { $ } from "./dom.js";
import { say, translate } from "./words.js";

translate();

// A link from another site leaves the cookie behind; a visitor who has one is let in without typing.
fetch("/v1/session").then((answer) => answer.ok && location.reload());

$("#sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("#wrong").textContent = "";
  try {
    const answer = await fetch("/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: $("#token").value }),
    });
    if (answer.ok) location.replace(`/${location.hash}`);
    else $("#wrong").textContent = (await answer.json()).error;
  } catch {
    $("#wrong").textContent = say("no_answer");
  }
});
